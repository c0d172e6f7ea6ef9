/* SPDX-License-Identifier: GPL-2.0-only */
/* What Carrefour is for, and that it comes to rest. A period is a second. */
#include <string.h>

#include "world.h"

static void local_program_is_left_alone(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 4096, 0, ORDER_4K, partitioned);
	for (i = 0; i < g->nr_pages; i++)
		g->node[i] = partitioned(g, i);
	world_steps(&w, 30);
	assert_int_equal(g->all_moves, 0);
	assert_int_equal(g->last.state, STATE_BALANCED);
	world_end(&w);
}

/* 4096 pages, 2000 samples a second: each page is seen once in two seconds. */
static void stable_partition_is_found_and_then_quiet(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int moves;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 4096, NO_NODE, ORDER_4K, partitioned);
	world_steps(&w, 40);
	assert_true(world_local(&w, g) >= 990);
	moves = g->all_moves;
	world_steps(&w, 100);
	assert_int_equal(g->all_moves, moves);
	/* Three of four were remote; none moved twice, or in vain. The samples of 100 s tell of hardly fewer than all. */
	assert_true(moves <= 3072);
	assert_true(!g->lost && g->told <= moves && g->told > moves * 9 / 10);
	world_end(&w);
}

/* By each sample of a page that was sampled before, by the same node or by another one. */
static void private_pages_are_counted(void **unused)
{
	struct world w;
	struct guest *g, *h;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	pattern_nodes = 4;
	g = world_add(&w, 4096, NO_NODE, ORDER_4K, partitioned);
	h = world_add(&w, 4096, NO_NODE, ORDER_4K, shared);
	world_step(&w);
	assert_true(g->last.again && g->last.again < g->last.measure.samples);
	assert_int_equal(g->last.again_same, g->last.again);
	assert_in_range(100 * h->last.again_same / h->last.again, 15, 35);
	world_steps(&w, 10);
	assert_int_equal(g->last.again_same, g->last.again);
	assert_in_range(100 * h->last.again_same / h->last.again, 20, 30);
	world_end(&w);
}

static void page_of_one_remote_node_ends_there(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 512, 0, ORDER_4K, all_from_1);
	/* So that the last ones are found when nearly all others are local. */
	g->samples = 700;
	/* A page is sampled twice in two periods with 60 %, in 40 but for one of 10^13. */
	world_steps(&w, 40);
	for (i = 0; i < g->nr_pages; i++)
		assert_int_equal(g->node[i], 1);
	assert_int_equal(g->all_moves, 512);
	world_steps(&w, 30);
	assert_int_equal(g->all_moves, 512);
	world_end(&w);
}

/*
 * Pages that all nodes use, and so many that of most only two samples are known at a time, by chance often from one node: to
 * move them is of no use, on two nodes as on many. How many one guest moves until it has seen that varies by a factor of 70 (13
 * to 982 of 199 seeds, on two nodes), so the sum of eight is what tells.  Of 200 seeds: 1,081 to 3,846 on two nodes, 983 to 1,329
 * on eight; if chance is taken for gain, at least 17,549 and 7,473.
 */
static void pages_that_do_not_fit_the_table_come_to_rest(void **unused)
{
	static const unsigned int nodes[] = { 2, 8 }, limits[] = { 10000, 4000 };
	unsigned int i, round, moves;
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		for (round = moves = 0; round < 8; round++) {
			world_begin(&w, nodes[i], 4);
			w.config.pages = 1024;
			g = world_add(&w, 8192, NO_NODE, ORDER_4K, shared);
			g->samples = 500;
			world_steps(&w, 400);
			moves -= g->all_moves;
			world_steps(&w, 200);
			moves += g->all_moves;
			world_end(&w);
		}
		assert_in_range(moves, 0, limits[i]);
	}
}

/* The master has touched all of it; slaves on all nodes use it together, or each its part. */
static void master_slave(pattern *access, unsigned int nodes, uint8_t order, unsigned int periods)
{
	struct world w;
	struct guest *g;
	unsigned int moves;

	world_begin(&w, nodes, 4);
	g = world_add(&w, 4096 << (order / 2), 0, order, access);
	g->samples = 4096;
	assert_true(world_imbalance(&w, g) > 990);
	world_steps(&w, periods);
	assert_true(world_imbalance(&w, g) < 350);
	world_steps(&w, 60);
	moves = g->all_moves;
	assert_true(world_imbalance(&w, g) < 350);
	world_steps(&w, 60);
	assert_int_equal(g->all_moves, moves);
	world_end(&w);
}

static void master_slave_is_balanced_within_20_periods(void **unused)
{
	static const unsigned int nodes[] = { 2, 4, 8 };
	unsigned int i;

	(void)unused;
	test_seed();
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		master_slave(partitioned, nodes[i], ORDER_4K, 20);
		master_slave(shared, nodes[i], ORDER_4K, 20);
	}
	master_slave(partitioned, 4, ORDER_2M, 20);
}

static void phase_change(unsigned int after, unsigned int within)
{
	struct world w;
	struct guest *g;
	unsigned int moves;

	world_begin(&w, 4, 4);
	g = world_add(&w, 2048, 0, ORDER_4K, partitioned);
	world_steps(&w, after);
	assert_true(world_local(&w, g) >= 950);
	g->access = rotated;
	assert_true(world_local(&w, g) < 50);
	world_steps(&w, within);
	assert_true(world_local(&w, g) >= 950);
	moves = g->all_moves;
	world_steps(&w, 60);
	assert_int_equal(g->all_moves, moves);
	world_end(&w);
}

/* Within a minute, some pages would be moved for the third time, as they were interleaved first: these wait a minute more. */
static void phase_change_is_followed_and_then_quiet(void **unused)
{
	(void)unused;
	test_seed();
	phase_change(90, 40);
	phase_change(30, 100);
}

/*
 * Samples are so few that most of what was moved has not been judged yet, when all of it turns out to be wrong. That is
 * reason for one back-off; what is moved after it is good.
 */
static void phase_change_is_one_reason_to_back_off(void **unused)
{
	unsigned int quiet = 0;
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 3072, 0, ORDER_4K, partitioned);
	g->samples = 500;
	w.config.cooldown_ms = 1000;
	w.config.pingpong_ms = 0;
	while (world_local(&w, g) < 900)
		world_step(&w);
	g->access = rotated;
	for (int step = 0; step < 150; step++) {
		world_step(&w);
		quiet += g->last.state == STATE_BACKOFF;
	}
	assert_in_range(quiet, 1, 6);
	assert_true(world_local(&w, g) >= 900);
	world_end(&w);
}

/* What looks like one node's page is anybody's: moving it gains nothing. */
static uint8_t by_seconds(struct guest *g, unsigned int page)
{
	(void)g;
	return (page * 7 + pattern_period * 3) % pattern_nodes;
}

static void moves_that_do_not_help_end(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int first;

	(void)unused;
	test_seed();
	world_begin(&w, 8, 4);
	g = world_add(&w, 2048, NO_NODE, ORDER_4K, by_seconds);
	g->samples = 20000;
	w.config.cooldown_ms = w.config.pingpong_ms = 0;
	world_steps(&w, 10);
	assert_true(g->all_moves);
	first = g->all_moves;
	world_steps(&w, 10);
	assert_int_equal(g->last.state, STATE_BACKOFF);
	world_steps(&w, 180);
	/* In 5, 10, 20, 40 and 80 s there is little time between. */
	assert_true(g->all_moves - first < 6 * first);
	assert_true(g->last.backoff_ms || g->last.efficiency_pct < 10);
	assert_true(g->told && g->lost > g->told * 9 / 10);
	world_end(&w);
}

/* The overloaded node has pages of all and pages of one node; there is a budget for few. */
static uint8_t half_shared(struct guest *g, unsigned int page)
{
	return page < g->nr_pages / 2 ? shared(g, page) : partitioned(g, page);
}

static void what_is_one_nodes_goes_first(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 2048, 0, ORDER_4K, half_shared);
	w.config.vm_moves = 16;
	world_steps(&w, 20);
	/* By the samples, three quarters would be of the other kind. */
	assert_true(g->all_actions[ACTION_MIGRATE] > 4 * g->all_actions[ACTION_INTERLEAVE]);
	world_end(&w);
}

static uint8_t mostly_from_1(struct guest *g, unsigned int page)
{
	unsigned int part = 100 * page / g->nr_pages;

	return part < 60 ? 1 : part < 70 ? 0 : part < 85 ? 2 : 3;
}

/* Each page where it is used, but for a fifth of all, which is on node 0. */
static struct guest *a_fifth_on_0(struct world *w, pattern *access)
{
	struct guest *g;
	unsigned int i, moved = 0;

	world_begin(w, 4, 4);
	w->config.local_pct = 70;
	g = world_add(w, 1000, 0, ORDER_4K, access);
	for (i = 0; i < g->nr_pages; i++) {
		uint8_t node = access(g, i);

		if (node && i % 3 == 0 && moved < g->nr_pages / 5)
			moved++;
		else
			g->node[i] = node;
	}
	return g;
}

/* Most is local, so nothing is to migrate; but what others use of an overloaded node goes to them, if they have less. */
static void overloaded_node_gives_to_those_who_use_it(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	g = a_fifth_on_0(&w, partitioned);
	world_step(&w);
	assert_true(g->last.interleaving && !g->last.migrating);
	world_steps(&w, 30);
	assert_true(world_imbalance(&w, g) <= 250 && world_local(&w, g) >= 880);
	assert_int_equal(g->all_actions[ACTION_INTERLEAVE], 0);
	world_end(&w);

	g = a_fifth_on_0(&w, mostly_from_1);
	world_step(&w);
	assert_true(g->last.interleaving && !g->last.migrating);
	world_steps(&w, 30);
	assert_int_equal(g->all_moves, 0);
	world_end(&w);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_program_is_left_alone),
		cmocka_unit_test(stable_partition_is_found_and_then_quiet),
		cmocka_unit_test(page_of_one_remote_node_ends_there),
		cmocka_unit_test(overloaded_node_gives_to_those_who_use_it),
		cmocka_unit_test(pages_that_do_not_fit_the_table_come_to_rest),
		cmocka_unit_test(private_pages_are_counted),
		cmocka_unit_test(master_slave_is_balanced_within_20_periods),
		cmocka_unit_test(phase_change_is_followed_and_then_quiet),
		cmocka_unit_test(phase_change_is_one_reason_to_back_off),
		cmocka_unit_test(moves_that_do_not_help_end),
		cmocka_unit_test(what_is_one_nodes_goes_first),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
