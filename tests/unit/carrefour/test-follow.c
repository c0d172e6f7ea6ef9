/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that follows what auto has set. */
#include <string.h>

#include "chance.h"
#include "decide/follow.h"

/* Whatever the budgets and the nodes: no more than there is, and all of it in the end. */
static void memory_follows_within_budgets(void **unused)
{
	unsigned int round, n;

	(void)unused;
	test_seed();
	for (round = 0; round < 2000; round++) {
		struct config c = config_defaults();
		struct follow f = { .on = true };
		struct host h = { .nr_nodes = 1 + rnd(4) };
		uint64_t pages = rnd(100000), period, free[NODES_MAX];

		c.vm_mb_per_s = 2 + rnd(100);
		c.host_mb_per_s = 2 + rnd(100);
		c.period_ms = 1000 + rnd(1000);
		for (n = 0; n < h.nr_nodes; n++)
			free[n] = c.node_reserve_mb * MIB + (n ? 1 + rnd(300) : 0) * MIB;
		for (period = 0; pages; period++) {
			uint64_t taken = 0, left, room = ~0ULL, before[NODES_MAX];
			unsigned int step;

			assert_true(period < 100000);
			host_next_period(&h, &c, free, -1);
			host_took(&h, (struct budget){ rnd(h.bytes_left + 1), 0 }, false, false);
			left = h.bytes_left;
			for (n = 1; n < h.nr_nodes; n++)
				room = h.room[n] < room ? h.room[n] : room;
			memcpy(before, h.room, sizeof(before));
			if (!follow_period(&f, &h, &c, ~0ULL)) {
				assert_int_equal(room, 0);
				break;
			}
			assert_true(room);
			while (pages && (step = follow_step(&f))) {
				/* Xen stops sooner, or at the end of a block. */
				uint64_t moved = rnd(4) ? step : rnd(step + 1);

				moved = moved < pages ? moved : pages;
				follow_took(&f, &h, moved, 1);
				f.gfn += moved + 1;
				pages -= moved;
				taken += moved << PAGE_SHIFT;
			}
			assert_true(taken <= left && taken <= c.vm_mb_per_s * MIB * c.period_ms / 1000 && taken <= room);
			assert_int_equal(h.bytes_left, left - taken);
			/* The next guest finds no more than is left should all have gone there. */
			for (n = 1; n < h.nr_nodes; n++)
				assert_int_equal(h.room[n], before[n] - taken);
			/* Node 0, where it came from, has the more; the others ever less. */
			free[0] += taken;
			if (h.nr_nodes > 1)
				free[1 + rnd(h.nr_nodes - 1)] -= taken;
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_follows_within_budgets),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
