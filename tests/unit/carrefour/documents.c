/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the documents of a daemon with three domains, and of two that only heal knows:
 * documents show|heal|explain ID. What they say is made up.
 */
#include <stdlib.h>
#include <string.h>

#include "control/heal.h"
#include "control/view.h"

static struct daemon d = { .period = 1234, .served_at = 90000 * MS, .host.nr_nodes = 4 };

static struct guest *add(const struct switches *switches)
{
	d.guest = realloc(d.guest, (d.nr + 1) * sizeof(*d.guest));
	return d.guest[d.nr++] = guest_new(switches);
}

static void fill(struct guest *g)
{
	const struct verdict v = {
		.state = STATE_ACTIVE, .moves = 3, .bytes = 12288, .held = { [HELD_FULL] = 2 },
		.measure = { .samples = 400, .local = 255, .imbalance = 1706, .pair_from = 0, .pair_to = 3, .pair = 401 },
	};
	unsigned int i;

	g->sampling = SAMPLING_RUNS;
	g->policy = (struct xen_policy){ .name = "first-touch", .home = 0xb };
	g->period = (struct counters){ .faults = 410, .marked = 900, .ns = 5000, .guest_ns = 1000000 };
	metrics_count(&g->metrics, &v);
	g->metrics.known = true;
	g->metrics.results[RESULT_BUSY] = 7;
	g->metrics.dropped = 8;
	for (i = 0; i < 70; i++)
		history_add(&g->history, &(struct event){
			.decision = {
				.action = i % 2 ? ACTION_FREEZE : ACTION_MIGRATE, .why = i % 2 ? WHY_OFTEN : WHY_ONE_NODE,
				.gfn = (1ULL << 40) + i, .from = 0, .to = 3, .samples = 4, .hits = 2, .ms = 60000,
			}, .period = 1000 + i, .ns = (i + 1) * 1000 * MS, .result = i % 2 ? RESULT_NOT_TRIED : RESULT_BUSY,
		});
}

static struct healing_vm *heal_knows(unsigned int id, const char *name, enum heal_left left)
{
	struct healing_vm *vm = healing_of(&d.healing, id, 0);

	strcpy(vm->name, name);
	vm->left = left;
	return vm;
}

static void did(unsigned int id, uint64_t before, uint64_t home, bool paid, bool closed)
{
	d.healing.ledger.entry[d.healing.ledger.nr++] = (struct heal_entry){
		.id = id, .why = HEAL_GATHER, .at = 60000 * MS, .home_before = before, .home = home, .paid = paid, .closed = closed,
		.bytes = 1024 * MIB, .predicted = 0.25, .cost_ns = 2000 * MS, .brought_ns = 1500 * MS,
	};
}

static void heal(void)
{
	d.config.heal = HEAL_ON;
	d.healing.looked_at = 89000 * MS;
	heal_knows(3, "db \"1\" \\ \xc3\xa9 \xff", LEFT_WATCHED);
	heal_knows(7, "idle", LEFT_GOOD);
	*heal_knows(8, "spread", LEFT_ACTED) = (struct healing_vm){
		.id = 8, .name = "spread", .left = LEFT_ACTED,
		.action = { .why = HEAL_GATHER, .home = 2, .bytes = 1024 * MIB, .local_after = 1 },
	};
	did(7, 0, 1, true, false);
	did(6, 3, 2, true, true);
	did(7, 1, 2, false, true);
	did(3, 3, 2, false, false);
}

int main(int argc, char **argv)
{
	struct guest *g;
	unsigned int i;

	d.config = config_defaults();
	fill(add(&(struct switches){ .id = 3, .carrefour = true, .name = "db \"1\" \\ \xc3\xa9 \xff" }));
	g = add(&(struct switches){ .id = 5, .mode = AUTO_ADVISE, .name = "5" });
	g->sampling = SAMPLING_REFUSED;
	g->error = 18;
	g = add(&(struct switches){ .id = 9, .mode = AUTO_ON, .class = CLASS_HIGH, .name = "web" });
	g->advised = true;
	g->advice = (struct advice){ CLASS_HIGH, AUTO_SAME, "round-4k", true, 2005, 125, { -1, 2126, 1281, 1219 }, 1219, 1430 };
	heal();
	if (argc == 2 && !strcmp(argv[1], "show"))
		view_show(stdout, &d);
	else if (argc == 2 && !strcmp(argv[1], "heal"))
		heal_view(stdout, &d);
	else if (argc == 3 && (g = guests_find(&d, atoi(argv[2]))))
		view_explain(stdout, &d, g);
	else if (argc != 3 || !heal_view_explain(stdout, &d, atoi(argv[2])))
		return 2;
	for (i = 0; i < d.nr; i++)
		guest_free(d.guest[i]);
	free(d.guest);
	healing_free(&d.healing);
	return 0;
}
