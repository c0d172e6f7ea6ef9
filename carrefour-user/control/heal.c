/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "control/heal.h"

/* Those that are in the host. */
static void nodes(FILE *f, const char *key, uint64_t set, unsigned int nr)
{
	const char *comma = "";
	unsigned int n;

	fprintf(f, "\"%s\": [", key);
	for (n = 0; n < nr; n++)
		if (set >> n & 1) {
			fprintf(f, "%s%u", comma, n);
			comma = ", ";
		}
	fputs("], ", f);
}

static void action(FILE *f, const struct healing_vm *vm, unsigned int nr_nodes)
{
	const struct heal_action *a = &vm->action;
	char text[HEAL_TEXT];

	fprintf(f, "{\"why\": \"%s\", ", heal_why_name(a->why));
	nodes(f, "nodes", a->home, nr_nodes);
	fprintf(f, "\"bytes\": %" PRIu64 ", \"cost_ns\": %" PRIu64 ", \"pause_ns\": %" PRIu64 ", \"gain_cpus\": %.3f, "
		"\"local_percent\": %.1f, \"local_percent_then\": %.1f, \"text\": ", a->bytes, a->cost_ns, a->pause_ns, a->gain,
		100 * a->local_before, 100 * a->local_after);
	heal_describe(text, sizeof(text), a, vm->id, vm->name, vm->placed);
	json_text(f, text);
	fputc('}', f);
}

/* What is being done, and what waits for it. */
static void tasks(FILE *f, const struct daemon *d)
{
	const struct healing *h = &d->healing;
	unsigned int i;

	fputs("\"tasks\": [", f);
	for (i = 0; i < h->nr_tasks; i++) {
		const struct healing_task *t = &h->task[i];

		fprintf(f, "%s{\"id\": %u, ", i ? ", " : "", t->id);
		nodes(f, "nodes", t->home, d->host.nr_nodes);
		fprintf(f, "\"moved_bytes\": %" PRIu64 ", \"left_bytes\": %" PRIu64 ", \"stays_bytes\": %" PRIu64 "}",
			t->moved << PAGE_SHIFT, t->left, t->stays << PAGE_SHIFT);
	}
	fputs("]", f);
}

static const char *state_of(const struct heal_entry *e)
{
	if (e->undone)
		return "undone";
	if (!e->paid)
		return e->closed ? "lost" : "open";
	return e->closed && e->brought_ns < e->cost_ns ? "regretted" : "paid";
}

/* The name is that of a domain that is still there. */
static void entry(FILE *f, const struct daemon *d, const struct heal_entry *e)
{
	const struct healing_vm *vm = healing_find(&d->healing, e->id);

	fprintf(f, "{\"id\": %u, \"name\": ", e->id);
	json_text(f, vm ? vm->name : NULL);
	fprintf(f, ", \"why\": \"%s\", \"seconds_ago\": %.1f, ", heal_why_name(e->why), (d->served_at - e->at) / 1e9);
	nodes(f, "nodes_before", e->home_before, d->host.nr_nodes);
	nodes(f, "nodes", e->home, d->host.nr_nodes);
	fprintf(f, "\"bytes\": %" PRIu64 ", \"cost_ns\": %" PRIu64 ", \"predicted_cpus\": %.3f, \"brought_ns\": %.0f, "
		"\"state\": \"%s\"}", e->bytes, e->cost_ns, e->predicted, e->brought_ns,
		state_of(e));
}

/* The newest first; of one domain, or of all. */
static void entries(FILE *f, const struct daemon *d, const unsigned int *id)
{
	const struct heal_entry *e;
	const char *comma = "";
	unsigned int i;

	fputc('[', f);
	for (i = 0; (e = heal_ledger_get(&d->healing.ledger, i)); i++)
		if (!id || e->id == *id) {
			fprintf(f, "%s\n", comma);
			entry(f, d, e);
			comma = ",";
		}
	fputc(']', f);
}

static void ledger(FILE *f, const struct daemon *d)
{
	const struct heal_ledger *l = &d->healing.ledger;

	fprintf(f, "\"ledger\": {\"actions\": %" PRIu64 ", \"paid\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"regretted\": %" PRIu64 ", \"stopped\": %s, \"entries\": ", l->nr, l->paid, l->lost, l->regretted,
		heal_ledger_stops(l) ? "true" : "false");
	entries(f, d, NULL);
	fputc('}', f);
}

void heal_view(FILE *f, const struct daemon *d)
{
	const struct healing *h = &d->healing;
	unsigned int i;

	fprintf(f, "{\"version\": 1, \"heal\": \"%s\", \"seconds_ago\": ", heal_mode_name(d->config.heal));
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
			action(f, vm, d->host.nr_nodes);
		else
			fputs("null", f);
		fputc('}', f);
	}
	fputs("], ", f);
	tasks(f, d);
	fputs(", ", f);
	ledger(f, d);
	fputs("}\n", f);
}

/* In words: NULL if heal has not looked at it. */
static void says(FILE *f, const struct daemon *d, const struct healing_vm *vm)
{
	bool acts = d->config.heal == HEAL_ON;
	char text[HEAL_TEXT + 16];

	if (!vm || !d->healing.looked_at) {
		json_text(f, NULL);
		return;
	}
	if (vm->left == LEFT_ACTED) {
		strcpy(text, acts ? "does: " : "advises: ");
		heal_describe(text + strlen(text), HEAL_TEXT, &vm->action, vm->id, vm->name, vm->placed);
	} else {
		snprintf(text, sizeof(text), "leaves it: %s", heal_left_text(vm->left));
	}
	json_text(f, text);
}

void heal_view_fields(FILE *f, const struct daemon *d, unsigned int id)
{
	fputs("\"heal_says\": ", f);
	says(f, d, healing_find(&d->healing, id));
	fputs(", \"heal_ledger\": ", f);
	entries(f, d, &id);
}

bool heal_view_explain(FILE *f, const struct daemon *d, unsigned int id)
{
	const struct healing_vm *vm = healing_find(&d->healing, id);

	if (!vm || !d->healing.looked_at)
		return false;
	fprintf(f, "{\"version\": 1, \"id\": %u, \"name\": ", id);
	json_text(f, vm->name);
	fputs(", \"carrefour\": false, \"auto\": \"off\", ", f);
	heal_view_fields(f, d, id);
	fputs(", \"decisions_ever\": 0, \"decisions\": []}\n", f);
	return true;
}
