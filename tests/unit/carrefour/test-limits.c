/* SPDX-License-Identifier: GPL-2.0-only */
/* What bounds the moves of a guest, and when there are to be none. A period is a second. */
#include <string.h>

#include "world.h"

static void full_node_is_left_alone(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i, on_1 = 0;

	(void)unused;
	test_seed();
	world_begin(&w, 2, 1);
	w.free[1] = (100ULL << PAGE_SHIFT) + (64 << 20);
	w.config.node_reserve_mb = 64;
	g = world_add(&w, 512, 0, ORDER_4K, all_from_1);
	world_steps(&w, 20);
	for (i = 0; i < g->nr_pages; i++)
		on_1 += g->node[i] == 1;
	assert_int_equal(on_1, 100);
	assert_true(g->last.held[HELD_FULL] > 0);
	world_end(&w);
}

static void only_home_nodes(void **unused)
{
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 1);
	g = world_add(&w, 1024, 0, ORDER_4K, partitioned);
	g->home = 0x5;
	world_steps(&w, 20);
	assert_true(g->all_moves > 0);
	for (i = 0; i < g->nr_pages; i++)
		assert_true(g->home >> g->node[i] & 1);
	g->home = 0x4;
	world_step(&w);
	assert_int_equal(g->last.state, STATE_ONE_HOME);
	assert_int_equal(g->moves, 0);
	world_end(&w);
}

static void what_cannot_move_is_not_tried_forever(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 2, 1);
	g = world_add(&w, 64, 0, ORDER_4K, all_from_1);
	g->samples = 640;
	memset(g->stuck, true, 64);
	world_steps(&w, 600);
	/* After 10, 20, 40, 80, 160, 320 s. */
	assert_true(g->all_moves <= 7 * 64);
	assert_true(g->all_moves >= 5 * 64);
	assert_true(g->last.held[HELD_FAILED] > 0);
	world_end(&w);
}

static void calm_guest_is_left_alone(void **unused)
{
	struct world w;
	struct guest *hungry, *calm, *idle;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	hungry = world_add(&w, 32768, 0, ORDER_4K, partitioned);
	calm = world_add(&w, 2048, 0, ORDER_4K, partitioned);
	idle = world_add(&w, 2048, 0, ORDER_4K, partitioned);
	for (i = 0; i < calm->nr_pages; i++)
		calm->node[i] = partitioned(calm, i);
	idle->samples = 20;
	world_steps(&w, 30);
	assert_true(hungry->all_moves > 1000);
	assert_int_equal(calm->all_moves, 0);
	assert_int_equal(idle->all_moves, 0);
	assert_int_equal(idle->last.state, STATE_FEW_SAMPLES);
	world_end(&w);
}

static void host_budget_is_shared(void **unused)
{
	struct world w;
	unsigned int i, least = ~0U, most = 0;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	w.config.host_moves = 200;
	for (i = 0; i < 4; i++)
		world_add(&w, 16384, 0, ORDER_4K, partitioned)->samples = 8000;
	world_steps(&w, 40);
	for (i = 0; i < 4; i++) {
		if (w.guest[i].all_moves < least)
			least = w.guest[i].all_moves;
		if (w.guest[i].all_moves > most)
			most = w.guest[i].all_moves;
	}
	/* All of it was used, and nobody got much more than another. */
	assert_true(least + most > 2 * 40 * 200 / 4 * 9 / 10);
	assert_true(most - least <= 200);
	world_end(&w);
}

/* One alone gets all of the host's, up to its own limit. */
static void unused_budget_is_for_others(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	w.config.host_moves = 200;
	world_add(&w, 16384, 0, ORDER_4K, partitioned)->samples = 10;
	g = world_add(&w, 16384, 0, ORDER_4K, partitioned);
	world_add(&w, 16384, 0, ORDER_4K, partitioned)->samples = 10;
	g->samples = 16384;
	world_steps(&w, 10);
	assert_int_equal(g->moves, 200);
	world_end(&w);
}

static void intensity_decides_whether_to_act(void **unused)
{
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 4);
	g = world_add(&w, 2048, 0, ORDER_4K, partitioned);
	w.accesses_per_us = 49;
	world_steps(&w, 5);
	assert_int_equal(g->last.state, STATE_IDLE);
	assert_int_equal(g->all_moves, 0);
	w.accesses_per_us = 50;
	world_steps(&w, 5);
	assert_true(g->all_moves);
	world_end(&w);
}

/* vCPU 2 belongs to node 2. While it runs on node 1, its memory is not to follow. */
static void vcpu_that_runs_elsewhere_for_a_while(void **unused)
{
	const uint8_t vcpu_node[3] = { NO_NODE, NO_NODE, 2 };
	uint64_t matrix[16] = { [1 * 4 + 0] = 200 };
	uint64_t free[4] = { 1ULL << 30, 1ULL << 30, 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 4 };
	struct domain *d = domain_new(config.pages, 4, 1);
	struct sample s[200];
	struct input in = {
		.ns = 1000 * MS, .sample = s, .nr_samples = 200, .matrix = matrix, .home = 0xf, .vcpu_node = vcpu_node,
		.nr_vcpus = 3,
	};
	struct outcome out;
	unsigned int i;

	(void)unused;
	for (i = 0; i < 200; i++)
		s[i] = (struct sample){ .gfn = i % 2, .vcpu = i % 2 ? 2 : 7, .node = 1, .home = 0 };
	host_next_period(&host, &config, free, -1);
	out = decide(d, &config, &host, &in);
	assert_int_equal(out.nr, 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(out.decision[i].to, out.decision[i].gfn ? 2 : 1);
	domain_free(d);
}

/* Its affinity names node 2, but it stays on node 1: its memory on node 2 is of no use to it, and that is noticed. */
static void vcpu_that_never_comes_back(void **unused)
{
	const uint8_t vcpu_node[1] = { 2 };
	uint64_t free[4] = { 1ULL << 30, 1ULL << 30, 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 4 };
	struct domain *d = domain_new(config.pages, 4, 1);
	uint8_t home[100] = { 0 };
	struct sample s[300];
	struct outcome out;
	unsigned int i, period, backoffs = 0;

	(void)unused;
	for (period = 0; period < 10; period++) {
		uint64_t matrix[16] = { 0 };
		struct input in = {
			.ns = 1000 * MS, .sample = s, .nr_samples = 300, .matrix = matrix, .home = 0xf, .vcpu_node = vcpu_node,
			.nr_vcpus = 1,
		};

		for (i = 0; i < 300; i++) {
			s[i] = (struct sample){ .gfn = i % 100, .vcpu = 0, .node = 1, .home = home[i % 100] };
			matrix[1 * 4 + home[i % 100]]++;
		}
		host_next_period(&host, &config, free, -1);
		out = decide(d, &config, &host, &in);
		for (i = 0; i < out.nr; i++)
			home[out.decision[i].gfn] = out.decision[i].to;
		backoffs += out.verdict.state == STATE_BACKOFF;
	}
	assert_int_equal(home[7], 2);
	assert_true(backoffs);
	domain_free(d);
}

/* 1 TiB: most pages are never seen twice, the table is small, and what is hot is found all the same. */
static void sparse_samples_of_a_terabyte(void **unused)
{
	static struct sample s[5000];
	uint64_t matrix[16], free[4] = { 1ULL << 40, 1ULL << 40, 1ULL << 40, 1ULL << 40 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 4 };
	struct domain *d;
	struct input in = { .ns = 1000 * MS, .sample = s, .nr_samples = 5000, .matrix = matrix, .home = 0xf };
	struct outcome out;
	bool moved[200] = { false };
	unsigned int i, period, hot = 0;

	(void)unused;
	test_seed();
	config.pages = 16384;
	d = domain_new(config.pages, 4, 1);
	for (period = 0; period < 60; period++) {
		memset(matrix, 0, sizeof(matrix));
		for (i = 0; i < 5000; i++) {
			s[i] = (struct sample){ .gfn = (1ULL << 28) - 1 - rnd64() % (1ULL << 28) };
			/* Each of 200 hot pages is seen once in 20 s. */
			if (i < 10)
				s[i].gfn = rnd(200);
			s[i].home = 0;
			s[i].node = 1 + s[i].gfn % 3;
			if (s[i].gfn < 200 && moved[s[i].gfn])
				s[i].home = s[i].node;
			matrix[s[i].node * 4 + s[i].home]++;
		}
		host_next_period(&host, &config, free, -1);
		out = decide(d, &config, &host, &in);
		assert_int_equal(out.verdict.untracked, 0);
		for (i = 0; i < out.nr; i++)
			if (out.decision[i].gfn < 200 && out.decision[i].action == ACTION_MIGRATE)
				moved[out.decision[i].gfn] = true;
	}
	for (i = 0; i < 200; i++)
		hot += moved[i];
	assert_true(hot > 20);
	domain_free(d);
}

/* Two domains of the same seed, each with its own chance. */
static void same_samples_give_same_decisions(void **unused)
{
	uint64_t matrix[16] = { 0 }, free[4] = { 1ULL << 30, 1ULL << 30, 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 4 };
	struct domain *d[2] = { domain_new(config.pages, 4, 1), domain_new(config.pages, 4, 1) };
	static struct sample s[4096];
	struct input in = { .ns = 1000 * MS, .sample = s, .nr_samples = 4096, .matrix = matrix, .home = 0xf };
	struct outcome out[2];
	unsigned int i;

	(void)unused;
	for (i = 0; i < 4096; i++) {
		s[i] = (struct sample){ .gfn = i % 256, .node = i / 256 % 4 };
		matrix[s[i].node * 4]++;
	}
	for (i = 0; i < 2; i++) {
		host_next_period(&host, &config, free, -1);
		out[i] = decide(d[i], &config, &host, &in);
	}
	/* Enough for chance to matter. */
	assert_true(out[0].nr > 50 && out[0].nr < 250);
	assert_int_equal(out[0].nr, out[1].nr);
	assert_memory_equal(out[0].decision, out[1].decision, out[0].nr * sizeof(*out[0].decision));
	for (i = 0; i < 2; i++)
		domain_free(d[i]);
}

/* Two of 1000 marked entries were accessed at all in a second: there is nothing to gain. */
static void hint_faults_tell_how_busy_it_is(void **unused)
{
	const uint64_t matrix[4] = { 0, 0, 100, 0 };
	uint64_t free[2] = { 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 2 };
	struct domain *d = domain_new(config.pages, 2, 1);
	struct input in = { .ns = 1000 * MS, .matrix = matrix, .home = 3, .marked = 50000, .faults = 100 };
	struct outcome out;

	(void)unused;
	host_next_period(&host, &config, free, -1);
	out = decide(d, &config, &host, &in);
	assert_int_equal(out.verdict.state, STATE_IDLE);
	in.faults = 500;
	out = decide(d, &config, &host, &in);
	assert_int_equal(out.verdict.state, STATE_ACTIVE);
	domain_free(d);
}

/* A trace may say that one was counted and name three hundred; and many faults on one entry that was marked. */
static void figures_that_contradict_each_other(void **unused)
{
	const uint64_t matrix[16] = { [0 * 4 + 1] = 1 };
	uint64_t free[4] = { 1ULL << 30, 1ULL << 30, 1ULL << 30, 1ULL << 30 };
	struct config config = config_defaults();
	struct host host = { .nr_nodes = 4 };
	struct domain *d = domain_new(config.pages, 4, 1);
	struct sample s[300];
	struct input in = {
		.ns = 1000 * MS, .sample = s, .nr_samples = 300, .matrix = matrix, .home = 0xf, .marked = 1, .faults = 42949673,
	};
	struct outcome out;
	unsigned int i;

	(void)unused;
	config.min_samples = 1;
	for (i = 0; i < 300; i++)
		s[i] = (struct sample){ .gfn = i % 2, .home = 1 };
	host_next_period(&host, &config, free, -1);
	out = decide(d, &config, &host, &in);
	assert_int_equal(out.nr, 2);
	for (i = 0; i < 2; i++)
		assert_true(out.decision[i].load_from <= 1000 && out.decision[i].load_to <= 1000);
	assert_int_equal(out.verdict.touched_pct, 100);
	domain_free(d);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpu_that_runs_elsewhere_for_a_while),
		cmocka_unit_test(vcpu_that_never_comes_back),
		cmocka_unit_test(sparse_samples_of_a_terabyte),
		cmocka_unit_test(same_samples_give_same_decisions),
		cmocka_unit_test(hint_faults_tell_how_busy_it_is),
		cmocka_unit_test(full_node_is_left_alone),
		cmocka_unit_test(only_home_nodes),
		cmocka_unit_test(what_cannot_move_is_not_tried_forever),
		cmocka_unit_test(calm_guest_is_left_alone),
		cmocka_unit_test(host_budget_is_shared),
		cmocka_unit_test(unused_budget_is_for_others),
		cmocka_unit_test(intensity_decides_whether_to_act),
		cmocka_unit_test(figures_that_contradict_each_other),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
