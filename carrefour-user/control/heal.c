/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>

#include "common/json.h"
#include "control/heal.h"

static void action(FILE *f, const struct healing_vm *vm)
{
	const struct heal_action *a = &vm->action;
	char text[HEAL_TEXT];
	unsigned int n;
	const char *comma = "";

	fprintf(f, "{\"why\": \"%s\", \"nodes\": [", heal_why_name(a->why));
	for (n = 0; n < NODES_MAX; n++)
		if (a->home >> n & 1) {
			fprintf(f, "%s%u", comma, n);
			comma = ", ";
		}
	fprintf(f, "], \"bytes\": %" PRIu64 ", \"cost_ns\": %" PRIu64 ", \"pause_ns\": %" PRIu64 ", \"gain_cpus\": %.3f, "
		"\"local_percent\": %.1f, \"local_percent_then\": %.1f, \"text\": ", a->bytes, a->cost_ns, a->pause_ns, a->gain,
		100 * a->local_before, 100 * a->local_after);
	heal_describe(text, sizeof(text), a, vm->id, vm->name, vm->placed);
	json_text(f, text);
	fputc('}', f);
}

void heal_view(FILE *f, const struct daemon *d)
{
	const struct healing *h = &d->healing;
	unsigned int i;

	fprintf(f, "{\"version\": 1, \"heal\": \"%s\", \"seconds_ago\": ", d->config.heal ? "advise" : "off");
	if (h->looked_at)
		fprintf(f, "%.1f", (d->served_at - h->looked_at) / 1e9);
	else
		fputs("null", f);
	fputs(", \"domains\": [", f);
	for (i = 0; i < h->nr; i++) {
		const struct healing_vm *vm = &h->vm[i];

		fprintf(f, "%s{\"id\": %u, \"name\": ", i ? ",\n" : "\n", vm->id);
		json_text(f, vm->name);
		fprintf(f, ", \"load_cpus\": %.3f, \"result\": \"%s\", \"action\": ", vm->load, heal_left_name(vm->left));
		if (vm->left == LEFT_ACTED)
			action(f, vm);
		else
			fputs("null", f);
		fputc('}', f);
	}
	fputs("]}\n", f);
}
