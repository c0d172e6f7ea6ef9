/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine is an array of nodes. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

unsigned int pattern_nodes;
uint64_t pattern_period;

uint8_t partitioned(struct guest *g, unsigned int page)
{
	return (uint64_t)page * pattern_nodes / g->nr_pages;
}

uint8_t shared(struct guest *g, unsigned int page)
{
	(void)g;
	(void)page;
	return rnd(pattern_nodes);
}

uint8_t rotated(struct guest *g, unsigned int page)
{
	return (partitioned(g, page) + 1) % pattern_nodes;
}

uint8_t alternating(struct guest *g, unsigned int page)
{
	return pattern_period % 2 ? partitioned(g, page) : rotated(g, page);
}

uint8_t all_from_1(struct guest *g, unsigned int page)
{
	(void)g;
	(void)page;
	return 1;
}

uint8_t divided_within_2m(struct guest *g, unsigned int page)
{
	(void)g;
	return page % PAGES_IN_2M * pattern_nodes / PAGES_IN_2M;
}

struct topology world_slow_memory(void)
{
	static const uint8_t distance[4][4] = { { 10, 21, 14, 24 }, { 21, 10, 24, 14 }, { 14, 24, 10, 26 }, { 24, 14, 26, 10 } };
	struct topology t = topology_flat();
	unsigned int a;

	for (a = 0; a < 4; a++)
		memcpy(t.distance[a], distance[a], sizeof(distance[a]));
	t.cpus = 0x3;
	return t;
}

void world_begin(struct world *w, unsigned int nr_nodes, unsigned int gib)
{
	unsigned int n;

	memset(w, 0, sizeof(*w));
	w->config = config_defaults();
	w->config.node_reserve_mb = 0;
	w->host.nr_nodes = pattern_nodes = nr_nodes;
	w->accesses_per_us = -1;
	pattern_period = 0;
	for (n = 0; n < nr_nodes; n++)
		w->free[n] = gib * (1ULL << 30);
}

void world_end(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		domain_free(w->guest[i].domain);
		free(w->guest[i].node);
		free(w->guest[i].order);
		free(w->guest[i].stuck);
		free(w->guest[i].moved_at);
	}
}

struct guest *world_add(struct world *w, unsigned int nr_pages, uint8_t on, uint8_t order, pattern *access)
{
	struct guest *g = &w->guest[w->nr];
	unsigned int i;

	assert_true(w->nr < GUESTS_MAX);
	g->id = ++w->nr;
	g->nr_pages = nr_pages;
	g->base = 0x100000ULL * g->id;
	g->access = access;
	g->samples = 2000;
	g->home = (1ULL << w->host.nr_nodes) - 1;
	g->domain = domain_new(w->config.pages, w->host.nr_nodes, g->id);
	g->node = calloc(nr_pages, 1);
	g->order = calloc(nr_pages, 1);
	g->stuck = calloc(nr_pages, sizeof(*g->stuck));
	g->moved_at = calloc(nr_pages, sizeof(*g->moved_at));
	for (i = 0; i < nr_pages; i++) {
		g->node[i] = on == NO_NODE ? (i >> order) % w->host.nr_nodes : on;
		g->order[i] = order;
	}
	return g;
}

static unsigned int pick(const struct guest *g)
{
	return rnd(g->hot_pages ? g->hot_pages : g->nr_pages);
}

static struct sample *sample_guest(struct world *w, struct guest *g, uint64_t *matrix)
{
	struct sample *s = calloc(g->samples + 1, sizeof(*s));
	unsigned int i;

	for (i = 0; i < g->samples; i++) {
		unsigned int page = pick(g), first = page & ~((1U << g->order[page]) - 1);

		s[i].gfn = g->base + first;
		s[i].order = g->order[page];
		s[i].node = g->access(g, page);
		s[i].home = g->node[page];
		s[i].vcpu = s[i].node;
		matrix[s[i].node * w->host.nr_nodes + s[i].home]++;
	}
	return s;
}

/* What must hold of any decision. */
static void check(struct world *w, struct guest *g, const struct decision *d, const uint64_t *room, uint64_t *filled)
{
	unsigned int page = d->gfn - g->base, n = 1U << d->order;

	assert_true(d->action < NR_ACTIONS && d->why < NR_WHYS);
	assert_true(d->order == ORDER_4K || d->order == ORDER_2M);
	assert_int_equal(d->gfn & (n - 1), 0);
	assert_true(d->gfn >= g->base && page + n <= g->nr_pages);
	if (d->action == ACTION_FREEZE)
		return;
	assert_true(g->home >> d->to & 1);
	filled[d->to] += (uint64_t)n << PAGE_SHIFT;
	assert_true(filled[d->to] <= room[d->to]);
	/* A page rests between moves; to be put together is no move of the small page. */
	if (d->action != ACTION_COLLAPSE)
		assert_int_not_equal(d->from, d->to);
	if (d->action != ACTION_COLLAPSE && (d->order == ORDER_4K || g->order[page] == ORDER_2M)) {
		if (g->moved_at[page])
			assert_true((w->period + 1 - g->moved_at[page]) * w->config.period_ms >= w->config.cooldown_ms);
		g->moved_at[page] = w->period + 1;
	}
}

static void carry_out(struct world *w, struct guest *g, const struct decision *d)
{
	unsigned int page = d->gfn - g->base, n = 1U << d->order, first, i;

	if (d->action == ACTION_FREEZE || g->stuck[page])
		return;
	/* One small page of 2 MiB divides them. */
	if (d->order == ORDER_4K && g->order[page] == ORDER_2M) {
		first = page & ~(PAGES_IN_2M - 1);
		memset(&g->order[first], ORDER_4K, PAGES_IN_2M);
	}
	for (i = page; i < page + n; i++) {
		w->free[g->node[i]] += 1ULL << PAGE_SHIFT;
		w->free[d->to] -= 1ULL << PAGE_SHIFT;
		g->node[i] = d->to;
		if (d->order == ORDER_2M)
			g->order[i] = ORDER_2M;
	}
}

static void record(struct world *w, struct guest *g, const struct input *in, struct sample *s, uint64_t *matrix,
		   const struct outcome *out)
{
	struct trace_domain d = {
		.id = g->id, .policy = "first-touch", .carrefour = true, .in = *in, .sample = s, .matrix = matrix,
		.decided = true, .decision = (struct decision *)out->decision, .nr_decisions = out->nr,
	};
	struct trace_period p = { .ns = in->ns, .accesses_per_us = w->accesses_per_us, .domain = &d, .nr = 1 };

	memcpy(p.free, w->free, sizeof(p.free));
	trace_write_period(w->trace, w->host.nr_nodes, &p);
}

static void step_guest(struct world *w, struct guest *g, uint64_t *filled, const uint64_t *room)
{
	static const uint8_t unpinned[4] = { NO_NODE, NO_NODE, NO_NODE, NO_NODE };
	uint64_t matrix[NODES_MAX * NODES_MAX] = { 0 };
	struct sample *s = sample_guest(w, g, matrix);
	struct input in = {
		.ns = w->config.period_ms * MS, .sample = s, .nr_samples = g->samples, .matrix = matrix, .home = g->home,
		.ran_ns = 3 * w->config.period_ms * MS, .vcpu_node = unpinned, .nr_vcpus = sizeof(unpinned),
	};
	struct outcome out = decide(g->domain, &w->config, &w->host, &in);
	uint64_t bytes = 0;
	size_t i;

	g->last = out.verdict;
	g->told += out.verdict.told;
	g->lost += out.verdict.lost;
	g->moves = 0;
	memset(g->actions, 0, sizeof(g->actions));
	for (i = 0; i < out.nr; i++) {
		check(w, g, &out.decision[i], room, filled);
		g->actions[out.decision[i].action]++;
		g->all_actions[out.decision[i].action]++;
		g->all_whole += out.decision[i].order == ORDER_2M && out.decision[i].action <= ACTION_INTERLEAVE;
		if (out.decision[i].action != ACTION_FREEZE) {
			bytes += 1ULL << (PAGE_SHIFT + out.decision[i].order);
			g->moves++;
			g->all_moves++;
		}
	}
	assert_int_equal(g->moves, out.verdict.moves);
	assert_int_equal(bytes, out.verdict.bytes);
	assert_true(g->moves <= w->config.vm_moves);
	assert_true(bytes * 1000 <= w->config.vm_mb_per_s * MIB * w->config.period_ms);
	if (w->trace)
		record(w, g, &in, s, matrix, &out);
	for (i = 0; i < out.nr; i++)
		carry_out(w, g, &out.decision[i]);
	free(s);
}

void world_step(struct world *w)
{
	uint64_t room[NODES_MAX], filled[NODES_MAX] = { 0 }, bytes = 0;
	unsigned int i, moves = 0;

	memcpy(room, w->free, sizeof(room));
	host_next_period(&w->host, &w->config, w->free, w->accesses_per_us);
	for (i = 0; i < w->nr; i++) {
		struct guest *g = &w->guest[host_turn(w->period, i, w->nr)];

		step_guest(w, g, filled, room);
		moves += g->moves;
		bytes += g->last.bytes;
	}
	assert_true(moves <= w->config.host_moves);
	assert_true(bytes * 1000 <= w->config.host_mb_per_s * MIB * w->config.period_ms);
	w->period++;
	pattern_period = w->period;
}

void world_steps(struct world *w, unsigned int n)
{
	while (n--)
		world_step(w);
}

#define TRUTH 20000	/* accesses that are nobody's samples */

unsigned int world_local(struct world *w, struct guest *g)
{
	unsigned int i, local = 0;

	(void)w;
	for (i = 0; i < TRUTH; i++) {
		unsigned int page = pick(g);

		local += g->access(g, page) == g->node[page];
	}
	return 1000ULL * local / TRUTH;
}

unsigned int world_imbalance(struct world *w, struct guest *g)
{
	struct nodes nodes = nodes_of(w->host.topology, w->host.nr_nodes, g->home);
	uint64_t matrix[NODES_MAX * NODES_MAX] = { 0 };
	unsigned int i;

	for (i = 0; i < TRUTH; i++) {
		unsigned int page = pick(g);

		matrix[g->access(g, page) * w->host.nr_nodes + g->node[page]]++;
	}
	return measure(matrix, &nodes).imbalance;
}
