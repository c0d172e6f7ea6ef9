/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "clock.h"
#include "decide/explain.h"
#include "decide/measure.h"
#include "loop.h"
#include "where.h"

#define UNIT 1e6		/* misses of a thread: a unit of work */
#define TRIPS (1U << 20)
/*
 * What docs/results/move-cost.md counts, at AMD48's 2.2 GHz and an instruction a cycle: a small page takes 2952 instructions,
 * 2 MiB 512 times 1911; writes wait meanwhile. A batch has two rounds of flushes, each as one of marks.
 */
#define PAGE_NS 1340
#define LARGE_NS 445000
#define BATCH_PAGES 512
#define ROUNDS_NS (2 * 1700)

/* The last move of an entry, by a hash; a newer one takes the place of another. */
struct trip {
	uint64_t gfn;
	uint8_t from;
	bool known;
};

static uint64_t all_nodes(const struct loop *l)
{
	return (1ULL << l->memory.nodes) - 1;
}

bool loop_begin(struct loop *l, const struct scenario *s)
{
	struct sampling asked = { s->config.sample_entries, s->config.sample_ms, s->config.sample_permille };
	uint64_t node = s->node_mib ? s->node_mib * 256 : s->memory.pages + s->config.node_reserve_mb * 256;
	unsigned int i;

	*l = (struct loop){
		.scenario = s, .memory = s->memory, .chance = chance_of(s->seed), .class = auto_begin(), .carrefour = s->carrefour,
		.policy = placement_name(s->placement), .host.nr_nodes = s->memory.nodes,
	};
	l->memory.seed = s->seed;
	for (i = 0; i < s->memory.nodes; i++)
		l->memory.free[i] = node;
	for (i = 0; i < s->memory.threads; i++) {
		l->memory.node_of[i] = i * s->memory.nodes / s->memory.threads;
		l->vcpu_node[i] = s->pinned ? l->memory.node_of[i] : NO_NODE;
	}
	l->clock = clock_new(s->memory.nodes, s->memory.threads / s->memory.nodes, s->overlap);
	l->trip = calloc(TRIPS, sizeof(*l->trip));
	l->domain = domain_new(s->config.pages, s->memory.nodes, s->seed);
	if (!l->trip || !l->domain || !memory_place(&l->memory, s->placement))
		return false;
	if (s->scan_ms) {
		l->where = where_new(&l->memory, s->scan_ms);
		if (!l->where)
			return false;
	}
	return sampler_begin(&l->sampler, &l->memory, &asked, l->where, splitmix_next(&l->chance));
}

void loop_end(struct loop *l)
{
	sampler_end(&l->sampler);
	where_free(l->where);
	domain_free(l->domain);
	clock_free(l->clock);
	memory_free(&l->memory);
	free(l->trip);
}

uint64_t loop_bytes(const struct loop *l)
{
	return domain_bytes(domain_pages(l->domain)) + l->sampler.room * sizeof(struct sample) + (l->where ? where_bytes(l->where) : 0);
}

/* Threads change their nodes, two at a time, so that each node has as many as before. */
static void wander(struct loop *l)
{
	const struct scenario *s = l->scenario;
	unsigned int i;

	if (!s->wander_s || !l->totals.seconds || l->totals.seconds % s->wander_s)
		return;
	for (i = 0; i < s->wander_pairs; i++) {
		uint8_t *a = &l->memory.node_of[chance_below(&l->chance, s->memory.threads)];
		uint8_t *b = &l->memory.node_of[chance_below(&l->chance, s->memory.threads)], node = *a;

		*a = *b;
		*b = node;
	}
}

static void change_uses(struct loop *l)
{
	const struct scenario *s = l->scenario;

	for (; l->next_event < s->events && s->event[l->next_event].second <= l->totals.seconds; l->next_event++)
		l->memory.area[s->event[l->next_event].area].use = s->event[l->next_event].use;
}

static void look_at_truth(struct loop *l, const double *misses)
{
	unsigned int n = l->memory.nodes, a, h;
	double all = 0, local = 0, on[NODES] = { 0 }, variance = 0;

	for (a = 0; a < n; a++)
		for (h = 0; h < n; h++) {
			all += misses[a * n + h];
			on[h] += misses[a * n + h];
			local += a == h ? misses[a * n + h] : 0;
		}
	for (h = 0; h < n; h++)
		variance += pow(on[h] * n / all - 1, 2) / n;
	l->now.local = local / all;
	l->now.imbalance = sqrt(variance);
}

/* The guest works for a second. Returns its misses. */
static double work(struct loop *l)
{
	unsigned int n = l->memory.nodes, threads = l->memory.threads, i;
	double misses[NODES * NODES], instructions[NODES] = { 0 }, copied[NODES * NODES];
	double lost_ns = l->lost_moving_ns + l->sampler.lost_ns;
	struct pace pace;

	memory_misses(&l->memory, UNIT * threads, misses);
	look_at_truth(l, misses);
	for (i = 0; i < threads; i++)
		instructions[l->memory.node_of[i]] += l->scenario->instructions * UNIT;
	for (i = 0; i < n * n; i++)
		copied[i] = l->per_second > 0 ? l->copied[i] / l->per_second : 0;
	pace = clock_pace(l->clock, instructions, misses, copied);
	l->now.link = pace.link;
	l->now.lost = lost_ns / (1e9 * threads);
	l->totals.lost_sampling += l->sampler.lost_ns / (1e9 * threads);
	l->totals.lost_moving += l->lost_moving_ns / (1e9 * threads);
	l->per_second = clock_hz(l->clock) / pace.cycles * (1 - fmin(l->now.lost, 1));
	l->now.work = l->per_second;
	l->totals.work += l->per_second;
	memset(l->copied, 0, sizeof(l->copied));
	l->lost_moving_ns = 0;
	return l->per_second * UNIT * threads;
}

/* What all lose by a batch of moves: flushes, and waiting to write to its pages. */
static void charge(struct loop *l, const struct area *a, uint64_t pages, double ns, double misses)
{
	unsigned int threads = l->memory.threads;
	double batches = fmax(pages / (double)BATCH_PAGES, 1), t = ns / batches;
	double touches = a->use.share > 0 ? misses / a->pages * a->use.touches * fmin(pages, BATCH_PAGES) : 0;

	l->lost_moving_ns += batches * (ROUNDS_NS * threads + threads * (1 - exp(-touches / threads * t / 1e9)) * t / 2);
}

static void note_trip(struct loop *l, uint64_t gfn, uint8_t from, uint8_t to)
{
	struct trip *trip = &l->trip[chance_of(gfn) % TRIPS];

	if (trip->known && trip->gfn == gfn && trip->from == to)
		l->totals.back++;
	*trip = (struct trip){ gfn, from, true };
}

static void carry_out(struct loop *l, const struct outcome *out, double misses)
{
	double small = 0, small_ns = 0;
	struct area *a = NULL;
	size_t i;

	for (i = 0; i < out->nr; i++) {
		const struct decision *d = &out->decision[i];
		uint64_t pages = 1ULL << d->order;
		uint8_t from = memory_area(&l->memory, d->gfn) ? memory_node(&l->memory, d->gfn) : 0;

		l->totals.action[d->action]++;
		if (d->action == ACTION_FREEZE)
			continue;
		if (!memory_move(&l->memory, d->gfn, d->order, d->to)) {
			l->totals.failed++;
			continue;
		}
		a = memory_area(&l->memory, d->gfn);
		l->now.moves++;
		l->now.moved_mib += pages / 256.0;
		l->copied[from * l->memory.nodes + d->to] += pages << PAGE_SHIFT;
		note_trip(l, d->gfn, from, d->to);
		if (d->order) {
			charge(l, a, pages, LARGE_NS, misses);
		} else {
			small++;
			small_ns += PAGE_NS;
		}
	}
	if (small)
		charge(l, a, small, small_ns, misses);
}

/* As daemon/follow-memory.c; where Xen's rebalance of small pages goes on in gfns. */
static void follow(struct loop *l, double misses)
{
	struct follow *f = &l->follow;
	unsigned int pages;

	if (!follow_period(f, &l->host, &l->scenario->config, all_nodes(l)))
		f->on = false;
	while (f->on && (pages = follow_step(f))) {
		uint64_t moved = 0;

		for (; moved < pages && f->gfn < l->memory.pages; f->gfn++) {
			uint8_t from = memory_node(&l->memory, f->gfn);

			if (!memory_interleave(&l->memory, f->gfn))
				continue;
			moved++;
			l->copied[from * l->memory.nodes + memory_node(&l->memory, f->gfn)] += 1 << PAGE_SHIFT;
		}
		follow_took(f, &l->host, moved, 0);
		l->totals.followed += moved;
		l->now.moved_mib += moved / 256.0;
		if (moved)
			charge(l, memory_area(&l->memory, f->gfn - 1) ?: l->memory.area, moved, moved * PAGE_NS, misses);
		f->on = f->gfn < l->memory.pages;
	}
}

static void advise(struct loop *l, const struct input *in, const struct verdict *v)
{
	struct auto_input auto_in = auto_input_of(in, v, l->policy, l->carrefour);
	struct advice advice = auto_step(&l->class, &l->scenario->config, &auto_in);

	if (advice.why != AUTO_CHANGED && l->applied)
		return;
	/* As daemon/apply.c: what it begins with is set, too. */
	l->applied = true;
	l->totals.policies++;
	l->carrefour = advice.carrefour;
	if (!strcmp(l->policy, advice.policy))
		return;
	l->policy = advice.policy;
	l->follow = (struct follow){ .on = advice.class == CLASS_HIGH };
}

/* As daemon/period.c. */
static void period(struct loop *l, double misses)
{
	const struct config *config = &l->scenario->config;
	uint64_t matrix[NODES * NODES] = { 0 }, room[NODES_MAX];
	unsigned int n = l->memory.nodes, i;
	struct input in = {
		.ns = config->period_ms * MS, .sample = l->sampler.sample, .nr_samples = l->sampler.nr, .matrix = matrix,
		.marked = l->sampler.all_marked, .faults = l->sampler.faults,
		.ran_ns = config->period_ms * MS * l->memory.threads, .home = all_nodes(l),
		.vcpu_node = l->vcpu_node, .nr_vcpus = l->memory.threads,
	};
	struct outcome out = { .nr = 0 };
	struct nodes nodes;

	for (i = 0; i < l->sampler.nr; i++)
		matrix[l->sampler.sample[i].node * n + l->sampler.sample[i].home]++;
	for (i = 0; i < n; i++)
		room[i] = l->memory.free[i] << PAGE_SHIFT;
	host_next_period(&l->host, config, room, -1);
	if (l->carrefour && !l->follow.on) {
		out = decide(l->domain, config, &l->host, &in);
	} else {
		out.verdict.state = l->follow.on ? STATE_FOLLOWING : STATE_OFF;
		nodes = nodes_of(NULL, n, in.home);
		out.verdict.measure = measure(matrix, &nodes);
		out.verdict.accesses_per_us = -1;
	}
	l->totals.told += out.verdict.told;
	l->totals.lost += out.verdict.lost;
	carry_out(l, &out, misses);
	if (l->follow.on)
		follow(l, misses);
	if (l->scenario->adaptive)
		advise(l, &in, &out.verdict);
	l->now.state = state_name(out.verdict.state);
	l->now.seen_local = out.verdict.measure.local / 1000.0;
	l->now.seen_imbalance = out.verdict.measure.imbalance / 1000.0;
}

bool loop_second(struct loop *l)
{
	const struct scenario *s = l->scenario;
	uint64_t from = l->totals.seconds * 1000 * MS;
	double misses;

	l->now = (struct state_of_second){ .state = state_name(STATE_OFF) };
	wander(l);
	change_uses(l);
	misses = work(l);
	l->sampler.nr = 0;
	if (s->carrefour || s->adaptive) {
		if (!sampler_run(&l->sampler, from, from + 1000 * MS, misses))
			return false;
		period(l, misses);
	}
	l->now.samples = l->sampler.nr;
	l->now.policy = l->policy;
	l->now.carrefour = l->carrefour;
	l->totals.samples += l->sampler.nr;
	l->totals.marked += l->sampler.all_marked;
	l->totals.moves += l->now.moves;
	l->totals.moved_mib += l->now.moved_mib;
	l->totals.seconds++;
	return true;
}
