/* SPDX-License-Identifier: GPL-2.0-only */
/* What tells a new phase from a ping-pong: a page goes back where its use has changed for good, and rests where it has not. */
#include "world.h"

/* Each period the other way round, and enough samples for each page to look like one node's. */
static void alternation_is_detected_and_no_storm(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int minute;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 256, 0, ORDER_4K, alternating);
	g->samples = 256 * 16;
	world_steps(&w, 30);
	/* Not more than a page a time out, and a time of ping-pong is a minute. */
	minute = g->all_moves;
	assert_true(minute <= 2 * 256);
	world_steps(&w, 600);
	assert_true(g->all_moves - minute <= 3 * 256);
	assert_true(g->all_actions[ACTION_FREEZE]);
	world_end(&w);
}

static uint8_t one_page_alternates(struct guest *g, unsigned int page)
{
	return page == 7 ? 1 + pattern_period / 15 % 2 : partitioned(g, page);
}

/*
 * As in make demo: parts of 2 MiB change hands right after they have come home, some back to where they came from. That is a
 * phase, which is followed as soon as it has lasted; its opposite, each few seconds, is none.
 */
static void phase_change_right_after_a_move_is_followed(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 3, 4);
	g = world_add(&w, 6 * PAGES_IN_2M, 0, ORDER_2M, partitioned);
	g->samples = 350;
	while (world_local(&w, g) < 900)
		world_step(&w);
	world_steps(&w, 3);
	g->access = rotated;
	world_steps(&w, 15);
	assert_true(world_local(&w, g) >= 990);
	assert_int_equal(g->all_actions[ACTION_FREEZE], 0);
	/* The parts of nodes 1 and 2, and then all of them. */
	assert_int_equal(g->all_moves, 4 + 6);
	world_steps(&w, 60);
	assert_int_equal(g->all_moves, 4 + 6);
	world_end(&w);
}

/* One page among many has another user each 15 s, longer than the cool-down. */
static void ping_pong_of_one_page_is_frozen(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 64, 0, ORDER_4K, one_page_alternates);
	g->samples = 64 * 20;
	/* Not for the ratio's sake: all others are local. */
	w.config.local_pct = w.config.local_stop_pct = 100;
	g->node[7] = 1;
	world_steps(&w, 39);
	/* It went to 2, and may not go back before that has lasted. */
	assert_int_equal(g->all_moves, 48 + 1);
	world_steps(&w, 13);
	/* It was let back once, and was wanted elsewhere again. */
	assert_int_equal(g->all_actions[ACTION_FREEZE], 1);
	assert_int_equal(g->all_moves, 48 + 2);
	/* The next phase has to last for longer, and does not: it is frozen for twice as long each time. */
	world_steps(&w, 288);
	assert_int_equal(g->all_actions[ACTION_FREEZE], 3);
	assert_int_equal(g->all_moves, 48 + 2 + 2);
	world_end(&w);
}

static uint8_t one_page_wanders(struct guest *g, unsigned int page)
{
	return page == 7 ? 1 + pattern_period / 15 % 3 : partitioned(g, page);
}

/* It never goes back to where it came from, and yet goes nowhere. */
static void wandering_page_is_frozen(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 64, 0, ORDER_4K, one_page_wanders);
	g->samples = 64 * 20;
	w.config.local_pct = w.config.local_stop_pct = 100;
	world_steps(&w, 60);
	assert_int_equal(g->all_actions[ACTION_FREEZE], 1);
	assert_int_equal(g->all_moves, 48 + 2);
	world_end(&w);
}

static uint8_t one_page_settles(struct guest *g, unsigned int page)
{
	return page == 7 ? 1 + (pattern_period < 9 ? pattern_period / 3 : 0) : partitioned(g, page);
}

/* All but one frozen page is local, which is more than enough to end with; it comes home all the same. */
static void migration_waits_for_what_is_frozen(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 64, 0, ORDER_4K, one_page_settles);
	g->samples = 64 * 20;
	w.config.cooldown_ms = 1000;
	world_steps(&w, 20);
	assert_true(g->all_actions[ACTION_FREEZE] == 1 && g->node[7] == 2 && g->last.measure.local > 950);
	world_steps(&w, 60);
	assert_int_equal(g->node[7], 1);
	assert_int_equal(g->last.state, STATE_BALANCED);
	world_end(&w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternation_is_detected_and_no_storm),
		cmocka_unit_test(phase_change_right_after_a_move_is_followed),
		cmocka_unit_test(ping_pong_of_one_page_is_frozen),
		cmocka_unit_test(wandering_page_is_frozen),
		cmocka_unit_test(migration_waits_for_what_is_frozen),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("ping-pong", tests, NULL, NULL);
}
