/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A day of a host whose VMs come and go and are now busy, now idle: twice the same day, as xl places VMs, and with heal.
 * churn [WORD=VALUE]... prints a line of JSON for each hour, and one for the day.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "day.h"
#include "healer.h"
#include "xl.h"

#define WARM_UP (24 * 60)	/* minutes, before what is told */
#define FIRST_BORN 1

static double vms = 200, per_hour = 10, node_gib = 192, nodes = 8, cores = 16, siblings = 2, strays_pct;
static double hours = 24, seed = 1, drifted;

static const struct word {
	const char *name;
	double *value, min, max;
	bool whole;
} words[] = {
	{ "vms", &vms, 1, 2000, true }, { "per_hour", &per_hour, 0.01, 1000, false }, { "node_gib", &node_gib, 16, 4096, true },
	{ "nodes", &nodes, 2, NODES, true }, { "cores", &cores, 1, 256, true }, { "siblings", &siblings, 1, 2, true },
	{ "strays_pct", &strays_pct, 0, 100, false }, { "hours", &hours, 1, 240, true }, { "seed", &seed, 1, 1e9, true },
	{ "drifted", &drifted, 0, 1, true },	/* heal begins after the first day, on a host that has drifted */
};

#define NR_WORDS (sizeof(words) / sizeof(*words))

static struct world stock, healed;
static struct healer healer;
static double left[VMS];	/* minutes that each lives yet; both worlds have the same VMs in the same order */
static unsigned int next_id = 1, refused;

static bool set(const char *text)
{
	unsigned int i;

	for (i = 0; i < NR_WORDS; i++) {
		size_t n = strlen(words[i].name);
		char *end;

		if (strncmp(text, words[i].name, n) || text[n] != '=')
			continue;
		*words[i].value = strtod(text + n + 1, &end);
		if (end != text + n + 1 && !*end && *words[i].value >= words[i].min && *words[i].value <= words[i].max &&
		    (!words[i].whole || *words[i].value == (long long)*words[i].value))
			return true;
		fprintf(stderr, "churn: %s should be a %snumber from %g to %g after %s=\n", text + n + 1,
			words[i].whole ? "whole " : "", words[i].min, words[i].max, words[i].name);
		return false;
	}
	fprintf(stderr, "churn: %s is no setting; there are", text);
	for (i = 0; i < NR_WORDS; i++)
		fprintf(stderr, " %s=", words[i].name);
	fprintf(stderr, "\n");
	return false;
}

static void start(struct world *w, const struct vm *vm)
{
	struct vm new = *vm;

	new.affinity = xl_place(w, &new);
	world_add(w, &new);
}

/* One that has no room is refused, in both. */
static void arrive(struct vm vm, double minutes, unsigned int minute)
{
	vm.born = minute;
	vm.load = day_load(&vm, minute);
	if (stock.nr == VMS || world_free(&stock) < vm.mib + vm.vcpus + vm.mib / 128) {
		refused++;
		return;
	}
	left[stock.nr] = minutes;
	start(&stock, &vm);
	start(&healed, &vm);
}

static void depart(void)
{
	unsigned int i;

	for (i = 0; i < stock.nr; ) {
		left[i] -= 1;
		if (left[i] > 0) {
			i++;
			continue;
		}
		memmove(&left[i], &left[i + 1], (stock.nr - i - 1) * sizeof(*left));
		world_remove(&stock, i);
		world_remove(&healed, i);
	}
}

static void run(struct world *w, unsigned int minute)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++)
		w->vm[i].load = day_load(&w->vm[i], minute);
	world_run(w);
}

static bool pass(struct day *day, unsigned int minute, bool heals)
{
	unsigned int nr;

	depart();
	for (nr = day_arrivals(day); nr--; ) {
		double minutes;
		struct vm vm = day_next(day, next_id++, &minutes);

		arrive(vm, minutes, minute);
	}
	run(&stock, minute);
	run(&healed, minute);
	return !heals || healer_minute(&healer, &healed, minute);
}

static void print_hour(unsigned int hour, uint64_t moved_mib)
{
	uint64_t mib = 0;
	unsigned int i;

	for (i = 0; i < stock.nr; i++)
		mib += stock.vm[i].mib;
	printf("{\"hour\": %u, \"vms\": %u, \"memory_mib\": %" PRIu64 ", \"free_mib\": %" PRIu64 ", \"stock\": %.4f, "
	       "\"heal\": %.4f, \"bound\": %.4f, \"repacked\": %.4f, \"stock_spans\": %u, \"heal_spans\": %u, \"moved_mib\": %" PRIu64
	       ", \"left\": {",
	       hour, stock.nr, mib, world_free(&stock), world_local(&stock), world_local(&healed), bound_local(&stock),
	       bound_repacked(&stock), world_spans(&stock), world_spans(&healed), moved_mib);
	for (i = 0; i < NR_HEAL_LEFT; i++)
		printf("%s\"%s\": %u", i ? ", " : "", heal_left_name(i), healer.left[i]);
	printf("}}\n");
}

static void print_day(void)
{
	const struct heal_ledger *l = &healer.ledger;
	const struct heal_entry *e;
	unsigned int i, open = 0;

	for (i = 0; (e = heal_ledger_get(l, i)); i++)
		open += !e->closed && !e->paid;
	printf("{\"hours\": %g, \"refused\": %u, \"entries\": %" PRIu64 ", \"paid\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"regretted\": %" PRIu64 ", \"not_yet_paid\": %u, \"cost_s\": %.3f, \"brought_s\": %.3f, \"moved_mib\": %" PRIu64
	       ", \"most_hour\": %.5f, \"stopped\": %s",
	       hours, refused, l->nr, l->paid, l->lost, l->regretted, open, l->cost_ns / 1e9,
	       l->brought_ns / 1e9, healer.moved_mib, healer.most_hour, heal_ledger_stops(l) ? "true" : "false");
	for (i = 0; i < NR_HEAL_WHYS; i++)
		printf(", \"%s\": %u", heal_why_name(i), healer.actions[i]);
	printf("}\n");
}

static bool simulate(void)
{
	struct shape shape = { .nodes = nodes, .cores = cores, .threads = cores * siblings, .node_mib = node_gib * 1024,
			       .dom0_mib = 8192, .strays = strays_pct / 100 };
	struct day day = { .random = seed, .vms = vms, .per_hour = per_hour };
	unsigned int minute;
	uint64_t moved = 0;

	world_begin(&stock, &shape);
	world_begin(&healed, &shape);
	while (next_id <= vms) {
		double minutes;
		struct vm vm = day_first(&day, next_id++, &minutes);

		arrive(vm, minutes, FIRST_BORN);
	}
	for (minute = FIRST_BORN; minute < WARM_UP; minute++)
		if (!pass(&day, minute, !drifted))
			return false;
	moved = healer.moved_mib;
	print_hour(0, 0);
	for (; minute < WARM_UP + hours * 60; minute++) {
		if (!pass(&day, minute, true))
			return false;
		if ((minute + 1 - WARM_UP) % 60)
			continue;
		run(&healed, minute);
		print_hour((minute + 1 - WARM_UP) / 60, healer.moved_mib - moved);
		moved = healer.moved_mib;
	}
	print_day();
	return true;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!set(argv[i]))
			return 1;
	if (!simulate()) {
		fprintf(stderr, "churn: out of memory\n");
		return 1;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "churn: cannot write the output: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
