/* SPDX-License-Identifier: GPL-2.0-only */
/* 2 MiB and 1 GiB: moved whole, divided on trial, put together again. */
#include <string.h>

#include "world.h"

static unsigned int small_pages(const struct guest *g)
{
	unsigned int i, nr = 0;

	for (i = 0; i < g->nr_pages; i++)
		nr += g->order[i] == ORDER_4K;
	return nr;
}

static void whole_pages_move_whole(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 64 * PAGES_IN_2M, 0, ORDER_2M, partitioned);
	world_steps(&w, 30);
	assert_int_equal(g->all_moves, 48);
	assert_int_equal(g->all_actions[ACTION_MIGRATE], 48);
	assert_int_equal(small_pages(g), 0);
	assert_true(world_local(&w, g) >= 990);
	world_end(&w);
}

/* Each node has its part of each 2 MiB: only small pages can be local. */
static void fought_over_pages_are_divided(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 8 * PAGES_IN_2M, NO_NODE, ORDER_2M, divided_within_2m);
	g->samples = 8 * PAGES_IN_2M * 2;
	world_steps(&w, 60);
	assert_int_equal(g->all_actions[ACTION_SPLIT], 8);
	assert_int_equal(g->all_actions[ACTION_COLLAPSE], 0);
	assert_int_equal(small_pages(g), g->nr_pages);
	assert_true(world_local(&w, g) >= 950);

	/* Later, one node has all of it: first the small pages go there, then they become whole. */
	g->access = all_from_1;
	world_steps(&w, 150);
	assert_int_equal(small_pages(g), 0);
	assert_int_equal(g->all_actions[ACTION_COLLAPSE], 8);
	assert_true(world_local(&w, g) >= 990);
	world_end(&w);
}

/* Somebody else has moved it all to the node that alone uses it now, and that is no home node any more. */
static void nothing_is_put_together_away_from_home(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 8 * PAGES_IN_2M, NO_NODE, ORDER_2M, divided_within_2m);
	g->samples = 8 * PAGES_IN_2M * 2;
	world_steps(&w, 60);
	g->access = all_from_1;
	memset(g->node, 1, g->nr_pages);
	g->home = 0xd;
	world_steps(&w, 150);
	assert_int_equal(small_pages(g), g->nr_pages);
	assert_true(g->last.held[HELD_NOT_HOME] > 0);
	world_end(&w);
}

static void splits_on_trial_are_few(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 64 * PAGES_IN_2M, NO_NODE, ORDER_2M, divided_within_2m);
	g->samples = 20000;
	for (i = 0; i < 29; i++) {
		world_step(&w);
		assert_true(g->last.splits_open <= w.config.splits);
		assert_true(g->all_actions[ACTION_SPLIT] <= w.config.splits);
	}
	world_end(&w);
}

/* All nodes use all of it: dividing cannot help, so it is taken back, and tried ever less often. */
static void useless_splits_are_taken_back(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int first;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 16 * PAGES_IN_2M, NO_NODE, ORDER_2M, shared);
	g->samples = 1500;
	world_steps(&w, 100);
	first = g->all_actions[ACTION_SPLIT];
	assert_true(first >= 8);
	world_steps(&w, 500);
	/* 30 s on trial, then 60, 120, 240 s of rest. */
	assert_true(g->all_actions[ACTION_SPLIT] <= 4 * 8);
	assert_int_equal(g->all_actions[ACTION_COLLAPSE] + g->last.splits_open, g->all_actions[ACTION_SPLIT]);
	assert_true(small_pages(g) <= g->last.splits_open * PAGES_IN_2M);
	world_end(&w);
}

/* All of the load is on one page, which all use: it is not moved from node to node. */
static void hot_page_is_not_moved_around(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 16 * PAGES_IN_2M, 0, ORDER_2M, shared);
	g->hot_pages = PAGES_IN_2M;
	world_steps(&w, 20);
	assert_true(g->all_actions[ACTION_SPLIT] >= 1);
	world_steps(&w, 280);
	assert_int_equal(g->all_whole, 0);
	assert_true(g->all_actions[ACTION_SPLIT] <= 3);
	world_end(&w);
}

/* Of 1 GiB its first 2 MiB moves, which divides it into such. */
static void huge_page_is_divided(void **unused)
{
	uint64_t matrix[4] = { 0, 0, 100, 0 }, free[2] = { 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 2 };
	struct domain *d = domain_new(config.pages, 2, 1);
	struct sample s[100];
	struct input in = { .ns = 1000 * MS, .sample = s, .nr_samples = 100, .matrix = matrix, .home = 3 };
	struct outcome out;
	unsigned int i;

	(void)unused;
	for (i = 0; i < 100; i++)
		s[i] = (struct sample){ .gfn = 0x40000, .order = ORDER_1G, .node = 1, .home = 0 };
	host_next_period(&host, &config, free, -1);
	out = decide(d, &config, &host, &in);
	assert_int_equal(out.nr, 1);
	assert_int_equal(out.decision[0].action, ACTION_SPLIT);
	assert_int_equal(out.decision[0].why, WHY_HUGE);
	assert_int_equal(out.decision[0].order, ORDER_2M);
	assert_int_equal(out.decision[0].gfn, 0x40000);
	assert_int_equal(out.decision[0].to, 1);
	domain_free(d);
}

static void stuck_page_is_not_divided_forever(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 4 * PAGES_IN_2M, NO_NODE, ORDER_2M, divided_within_2m);
	memset(g->stuck, true, g->nr_pages);
	world_steps(&w, 300);
	/* Each after 10, 20, 40, 80, 160 s. */
	assert_true(g->all_actions[ACTION_SPLIT] <= 4 * 6);
	assert_true(g->all_actions[ACTION_SPLIT] >= 4 * 4);
	assert_int_equal(g->last.splits_open, 0);
	world_end(&w);
}

/* 64 ranges of small pages, which are more than are remembered, all on node 0. */
static struct guest *many_small_pages(struct world *w, pattern *access)
{
	test_seed();
	world_begin(w, 4, 4);
	w->config.pages = 1024;
	return world_add(w, 64 * PAGES_IN_2M, 0, ORDER_4K, access);
}

static void small_pages_of_one_node_move_together(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	g = many_small_pages(&w, partitioned);
	world_steps(&w, 30);
	assert_true(world_local(&w, g) > 980);
	/* Three of four ranges were on the wrong node. */
	assert_in_range(g->all_whole, 40, 48);
	assert_int_equal(g->order[PAGES_IN_2M * 40], ORDER_2M);
	world_steps(&w, 60);
	assert_int_equal(g->all_actions[ACTION_SPLIT], 0);
	assert_int_equal(g->moves, 0);
	world_end(&w);
}

static void small_pages_of_several_nodes_do_not(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	g = many_small_pages(&w, divided_within_2m);
	world_steps(&w, 60);
	assert_int_equal(g->all_whole, 0);
	/* They are found one by one. */
	assert_true(g->all_actions[ACTION_MIGRATE] > 1000);
	world_end(&w);
	g = many_small_pages(&w, shared);
	world_steps(&w, 60);
	assert_int_equal(g->all_whole, 0);
	world_end(&w);
}

/* What is where it belongs is not put together: that would cost, and gain nothing that is known. */
static void small_pages_at_home_stay_small(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	g = many_small_pages(&w, partitioned);
	for (i = 0; i < g->nr_pages; i++)
		/* A few strangers in each. */
		g->node[i] = i % 16 ? partitioned(g, i) : 0;
	w.config.local_pct = 98;
	w.config.local_stop_pct = 100;
	world_steps(&w, 60);
	/* Five of eight samples of one in 21 pages: by chance in one of 80000, and there are 64 ranges and 60 periods. */
	assert_in_range(g->all_whole, 0, 3);
	world_end(&w);
}

static void small_pages_that_cannot_move_are_left_alone(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	g = many_small_pages(&w, partitioned);
	memset(g->stuck, true, g->nr_pages);
	world_steps(&w, 300);
	/* Each after 10, 20, 40, 80, 160 s. */
	assert_in_range(g->all_whole, 48 * 3, 48 * 6);
	world_end(&w);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_pages_move_whole),
		cmocka_unit_test(fought_over_pages_are_divided),
		cmocka_unit_test(nothing_is_put_together_away_from_home),
		cmocka_unit_test(splits_on_trial_are_few),
		cmocka_unit_test(useless_splits_are_taken_back),
		cmocka_unit_test(hot_page_is_not_moved_around),
		cmocka_unit_test(huge_page_is_divided),
		cmocka_unit_test(stuck_page_is_not_divided_forever),
		cmocka_unit_test(small_pages_of_one_node_move_together),
		cmocka_unit_test(small_pages_of_several_nodes_do_not),
		cmocka_unit_test(small_pages_at_home_stay_small),
		cmocka_unit_test(small_pages_that_cannot_move_are_left_alone),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}
