/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples that no machine would make: the bounds hold all the same, and the same input gives the same output. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define DOMAINS 3
#define SAMPLES 400

static unsigned int nr_nodes;

static struct sample any_sample(void)
{
	static const uint8_t orders[] = { ORDER_4K, ORDER_4K, ORDER_2M, ORDER_2M, ORDER_1G };
	struct sample s = {
		.gfn = rnd(4096), .order = orders[rnd(5)], .vcpu = rnd(8), .node = rnd(nr_nodes), .home = rnd(nr_nodes),
		.flags = rnd(4),
	};

	s.gfn = s.gfn << s.order;
	if (!rnd(20)) {
		s.gfn = rnd64() >> rnd(64);
		s.order = rnd(256);
		s.node = rnd(256);
		s.home = rnd(256);
		s.vcpu = rnd(65536);
	}
	/* A few pages again and again, so that there is something to decide. */
	if (rnd(3)) {
		s.gfn = (uint64_t)rnd(6) << ORDER_1G;
		s.node = s.gfn / 7 % nr_nodes;
	}
	return s;
}

static struct config any_config(void)
{
	struct config c = config_defaults();

	c.min_samples = 1 + rnd(100);
	c.cooldown_ms = rnd(5) * 1000;
	c.pingpong_ms = c.cooldown_ms + rnd(20) * 1000;
	c.freeze_ms = rnd(30) * 1000;
	c.vm_mb_per_s = 2 + rnd(10);
	c.vm_moves = 1 + rnd(100);
	c.host_mb_per_s = 2 + rnd(20);
	c.host_moves = 1 + rnd(150);
	c.backoff_ms = rnd(3) * 1000;
	c.pages = 32 + rnd(500);
	c.splits = rnd(5);
	c.split_ms = 1000 + rnd(5000);
	c.node_reserve_mb = rnd(2);
	c.page_samples = 1 + rnd(4);
	return c;
}

/* No page is in two orders of a period: 2 MiB and one of its small pages would be. */
static void check_apart(const struct outcome *out)
{
	size_t i, j;

	for (i = 0; i < out->nr; i++)
		for (j = 0; j < i; j++) {
			const struct decision *a = &out->decision[i], *b = &out->decision[j];
			uint8_t order = a->order > b->order ? a->order : b->order;

			if (a->action != ACTION_FREEZE && b->action != ACTION_FREEZE)
				assert_true(a->gfn >> order != b->gfn >> order);
		}
}

static void check_bounds(const struct config *c, const struct outcome *out, uint64_t home, const uint64_t *room,
			 uint64_t *filled)
{
	uint64_t bytes = 0;
	unsigned int moves = 0;
	size_t i;

	for (i = 0; i < out->nr; i++) {
		const struct decision *d = &out->decision[i];

		assert_true(d->action < NR_ACTIONS && d->why < NR_WHYS);
		assert_true(d->order == ORDER_4K || d->order == ORDER_2M);
		assert_int_equal(d->gfn & ((1ULL << d->order) - 1), 0);
		assert_true(d->from < nr_nodes && d->to < nr_nodes);
		if (d->action == ACTION_FREEZE)
			continue;
		assert_true(home >> d->to & 1);
		filled[d->to] += 1ULL << (PAGE_SHIFT + d->order);
		bytes += 1ULL << (PAGE_SHIFT + d->order);
		moves++;
		assert_true(filled[d->to] <= room[d->to]);
	}
	assert_true(moves <= c->vm_moves);
	assert_true(bytes <= c->vm_mb_per_s * MIB);
	assert_int_equal(out->verdict.moves, moves);
	assert_int_equal(out->verdict.bytes, bytes);
}

static void any_input(struct input *in, struct sample *s, uint64_t *matrix, uint8_t *vcpu_node)
{
	unsigned int i;

	memset(matrix, 0, nr_nodes * nr_nodes * sizeof(*matrix));
	*in = (struct input){
		.ns = rnd(5) ? 1000 * MS : rnd64() % (3600 * 1000 * MS), .sample = s, .nr_samples = rnd(SAMPLES),
		.matrix = matrix, .marked = rnd(2) * rnd(1000), .faults = rnd(1000), .home = rnd(10) ? rnd64() : 0,
		.vcpu_node = vcpu_node, .nr_vcpus = rnd(9),
	};
	for (i = 0; i < in->nr_samples; i++) {
		s[i] = any_sample();
		if (s[i].node < nr_nodes && s[i].home < nr_nodes)
			matrix[s[i].node * nr_nodes + s[i].home]++;
	}
	for (i = 0; i < 8; i++)
		vcpu_node[i] = rnd(2) ? NO_NODE : rnd(256);
}

static unsigned int one_world(void)
{
	static struct sample s[SAMPLES];
	static uint64_t matrix[NODES_MAX * NODES_MAX];
	struct config c = any_config();
	struct domain *d[DOMAINS], *twin;
	struct host host = { .nr_nodes = nr_nodes }, twin_host;
	unsigned int i, p, all = 0;
	uint8_t vcpu_node[9];

	for (i = 0; i < DOMAINS; i++)
		d[i] = domain_new(c.pages, nr_nodes, i);
	twin = domain_new(c.pages, nr_nodes, 0);
	for (p = 0; p < 25; p++) {
		uint64_t free[NODES_MAX], room[NODES_MAX], filled[NODES_MAX] = { 0 }, bytes = 0;
		unsigned int moves = 0;

		for (i = 0; i < nr_nodes; i++)
			free[i] = rnd(3) ? rnd(16) * MIB + rnd(5) * 4096 : 0;
		host_next_period(&host, &c, free, rnd(3) ? -1 : (int64_t)rnd(100));
		memcpy(room, free, sizeof(room));
		for (i = 0; i < DOMAINS; i++) {
			struct input in;
			struct outcome out, same;

			any_input(&in, s, matrix, vcpu_node);
			twin_host = host;
			out = decide(d[i], &c, &host, &in);
			check_bounds(&c, &out, in.home, room, filled);
			check_apart(&out);
			moves += out.verdict.moves;
			bytes += out.verdict.bytes;
			if (i)
				continue;
			same = decide(twin, &c, &twin_host, &in);
			assert_int_equal(same.nr, out.nr);
			assert_memory_equal(same.decision, out.decision, out.nr * sizeof(*out.decision));
		}
		assert_true(moves <= c.host_moves);
		assert_true(bytes <= c.host_mb_per_s * MIB);
		all += moves;
	}
	for (i = 0; i < DOMAINS; i++)
		domain_free(d[i]);
	domain_free(twin);
	return all;
}

static void bounds_hold(void **unused)
{
	unsigned int i, moves = 0;

	(void)unused;
	test_seed();
	for (i = 0; i < 60; i++) {
		nr_nodes = rnd(10) ? 1 + rnd(8) : 64;
		moves += one_world();
	}
	/* Or nothing was tried. */
	assert_true(moves > 1000);
}

/* Who accesses each entry: one node, or, of small pages of which there are few, all. */
static uint8_t owner[4096];

static uint8_t any_stable(struct guest *g, unsigned int page)
{
	uint8_t node = owner[page >> g->order[page]];

	return node == NO_NODE ? rnd(pattern_nodes) : node;
}

/* Whatever the pattern, once it stays as it is there is a time from which nothing moves any more. */
static void stable_patterns_come_to_rest(void **unused)
{
	unsigned int round, i, moves;

	(void)unused;
	test_seed();
	for (round = 0; round < 20; round++) {
		uint8_t order = rnd(3) ? ORDER_4K : ORDER_2M;
		unsigned int nodes = 2 + rnd(7), entries = order == ORDER_4K ? 64 + rnd(1000) : 8 + rnd(24);
		unsigned int shared_percent = order == ORDER_4K ? rnd(101) : 0;
		struct world w;
		struct guest *g;

		world_begin(&w, nodes, 4);
		for (i = 0; i < entries; i++)
			owner[i] = rnd(100) < shared_percent ? NO_NODE : rnd(nodes);
		g = world_add(&w, entries << order, rnd(2) ? NO_NODE : rnd(nodes), order, any_stable);
		g->samples = 8 * entries + rnd(2000);
		world_steps(&w, 200);
		moves = g->all_moves;
		world_steps(&w, 120);
		/* What all nodes use has no place of its own: chance may make one of them the busiest, now and then. */
		assert_in_range(g->all_moves - moves, 0, 2 + entries * shared_percent / 5000);
		for (i = 0; i < entries; i++)
			if (owner[i] != NO_NODE) {
				assert_int_equal(g->node[i << order], owner[i]);
				assert_true(g->moved_at[i << order] <= 200);
			}
		world_end(&w);
	}
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(stable_patterns_come_to_rest),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
