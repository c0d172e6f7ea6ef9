/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples are few: what looks like a pattern, or like a gain, may be chance. */
#include "world.h"

static uint8_t mostly_shared(struct guest *g, unsigned int page)
{
	return page % 16 ? shared(g, page) : page / 16 % pattern_nodes;
}

/* Of 16 pages 15 look like one node's by chance, one time in four after two samples; that one is. */
static void chance_moves_little(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i, wrong = 0, found = 0;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 16384, NO_NODE, ORDER_4K, mostly_shared);
	for (i = 0; i < g->nr_pages; i += 16)
		g->node[i] = (i / 16 + 1) % 4;
	world_steps(&w, 60);
	for (i = 0; i < g->nr_pages; i++) {
		wrong += i % 16 && g->node[i] != i % 4;
		found += !(i % 16) && g->node[i] == i / 16 % 4;
	}
	/* Of 15360, and of 1024; 120000 samples are 7 a page, and by two of these some 2900 would be wrong. */
	assert_in_range(wrong, 0, 800);
	assert_in_range(found, 600, 1024);
	world_end(&w);
}

/* Pages that were one node's, and are of all as soon as they have moved: local one time in four, which is chance. */
static void what_chance_makes_local_is_no_gain(void **unused)
{
	unsigned int steps = 0, backoffs = 0;
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 2048, NO_NODE, ORDER_4K, partitioned);
	while (g->all_moves < 200 && steps++ < 100)
		world_step(&w);
	g->access = shared;
	for (steps = 0; steps < 10; steps++) {
		world_step(&w);
		backoffs += g->last.state == STATE_BACKOFF;
	}
	assert_in_range(backoffs, 3, 10);
	world_end(&w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_moves_little),
		cmocka_unit_test(what_chance_makes_local_is_no_gain),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("chance", tests, NULL, NULL);
}
