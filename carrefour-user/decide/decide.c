/* SPDX-License-Identifier: GPL-2.0-only */
/* Carrefour's heuristics. What bounds them is in order.c, how they are judged in samples.c. */
#include <stdlib.h>
#include <string.h>

#include "decide/domain.h"
#include "decide/splitmix.h"

#define QUIET_PERIODS 5

struct domain *domain_new(uint32_t pages, unsigned int nr_nodes, uint64_t seed)
{
	struct domain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->nr_nodes = nr_nodes;
	d->random = seed;
	if (!pages_init(&d->pages, pages)) {
		free(d);
		return NULL;
	}
	return d;
}

void domain_free(struct domain *d)
{
	pages_free(&d->pages);
	free(d->decision);
	free(d);
}

bool domain_resize(struct domain *d, uint32_t pages)
{
	return pages == d->pages.max || pages_resize(&d->pages, pages);
}

uint32_t domain_pages(const struct domain *d)
{
	return d->pages.max;
}

size_t domain_bytes(uint32_t pages)
{
	return sizeof(struct domain) + pages_bytes(pages);
}

/*
 * Is there enough going on? Carrefour asks for memory accesses per time, which IBS can
 * tell. Hint faults cannot: there it is the share of marked entries that were accessed at all.
 */
static bool is_busy(const struct period *p)
{
	const struct verdict *v = p->verdict;

	if (v->accesses_per_us >= 0)
		return v->accesses_per_us >= p->config->min_accesses_per_us;
	return v->touched_pct >= p->config->min_touched_pct;
}

/*
 * Each is switched on at Carrefour's threshold, and off again when there is little left to gain.
 * Pages that are still found are brought home first: what stays remote at 80 % would be so for good.
 */
static void switch_heuristics(struct domain *d, const struct config *c, const struct measure *m)
{
	if (m->local >= 1000 || m->imbalance <= c->imbalance_stop_pct * 10)
		d->interleaving = false;
	else if (m->imbalance > c->imbalance_pct * 10)
		d->interleaving = true;
	if (m->local >= c->local_stop_pct * 10)
		d->migrating &= d->quiet < QUIET_PERIODS;
	else if (m->local < c->local_pct * 10)
		d->migrating = true;
}

/* How far a page would be from those that used it last, all together. */
static unsigned int distance_to(const struct period *p, const struct page *page, uint8_t node)
{
	unsigned int i, sum = 0;

	for (i = 0; i < page->nr_window; i++)
		sum += nodes_distance(&p->nodes, page->window[i], node);
	return sum;
}

/*
 * A node with less load than the mean, the more likely the less it has; of those the nearest to who uses the page, and none
 * that is memory alone. NO_NODE: none with room.
 */
static uint8_t draw_target(const struct period *p, const struct page *page)
{
	uint64_t bytes = 1ULL << (PAGE_SHIFT + page->order);
	unsigned int distance, least = ~0U;
	double weight[NODES_MAX], sum = 0, at;
	uint8_t n, last = NO_NODE;

	for (n = 0; n < p->d->nr_nodes; n++) {
		weight[n] = 0;
		if (!(p->nodes.with_cpus >> n & 1) || !can_go_to(p, n, bytes) || p->load[n] >= p->mean)
			continue;
		distance = distance_to(p, page, n);
		if (distance > least)
			continue;
		if (distance < least) {
			memset(weight, 0, sizeof(weight));
			sum = 0;
		}
		least = distance;
		weight[n] = 1 - p->load[n];
		sum += weight[n];
	}
	at = splitmix_part(&p->d->random) * sum;
	for (n = 0; n < p->d->nr_nodes; n++) {
		if (weight[n] <= 0)
			continue;
		last = n;
		at -= weight[n];
		if (at < 0)
			break;
	}
	return last;
}

/* Carrefour's probability and target. Beyond it: never so much that the target has more load afterwards. */
static void interleave(struct period *p, struct page *page)
{
	double weight = (double)page->hits / p->verdict->measure.samples;
	struct candidate wish = {
		.action = ACTION_INTERLEAVE, .why = WHY_OVERLOADED, .page = page, .gfn = page->gfn, .order = page->order,
	};

	if (!(p->nodes.home >> page->home & 1) || p->load[page->home] <= p->mean ||
	    splitmix_part(&p->d->random) >= p->load[page->home])
		return;
	wish.to = draw_target(p, page);
	if (wish.to == NO_NODE) {
		p->verdict->held[HELD_FULL]++;
		return;
	}
	if (2 * weight <= p->load[page->home] - p->load[wish.to])
		order_move(p, &wish);
}

/* 2 MiB that are divided, or just put together, are no page to move; nor are parts of the latter. */
static bool is_settled(const struct domain *d, const struct page *page)
{
	const struct page *range;

	if (page->range != RANGE_WHOLE)
		return false;
	if (page->order != ORDER_4K || !d->pages.nr_ranges)
		return true;
	range = pages_find(&d->pages, page->gfn & ~((1ULL << ORDER_2M) - 1), ORDER_2M);
	return !range || range->range != RANGE_COLLAPSING;
}

/* Most may be local, and one node have too much: what another one uses of that is the better half of interleaving. */
static bool relieves(const struct period *p, const struct page *page, uint8_t to)
{
	return p->d->interleaving && p->load[page->home] > p->mean && p->load[to] < p->load[page->home];
}

/* What one node uses goes there. */
static void bring_home(struct period *p, struct page *page)
{
	struct window_view view = page_view(page);
	struct candidate wish = {
		.action = ACTION_MIGRATE, .why = WHY_ONE_NODE, .page = page, .gfn = page->gfn, .order = page->order,
		.to = view.top,
	};

	if (page->order != ORDER_1G && page->streak >= p->needed[KIND_ENTRY] && view.one_node && view.top != page->home &&
	    (p->d->migrating || relieves(p, page, view.top)))
		order_move(p, &wish);
}

/* What several use is divided, or spread; and of 1 GiB, which cannot be moved whole, a part goes to the one node that uses it. */
static void share_out(struct period *p, struct page *page)
{
	struct window_view view = page_view(page);
	bool hot = page->hits * 100 > p->verdict->measure.samples * p->config->hot_page_pct;

	if (view.count < p->config->page_samples || (view.one_node && (view.top == page->home || page->order != ORDER_1G)))
		return;
	if (page->order == ORDER_1G || (page->order == ORDER_2M && (hot || !p->d->interleaving)))
		large_split(p, page, &view);
	else if (p->d->interleaving)
		interleave(p, page);
}

/*
 * Hint faults see what is accessed rarely as often as what is hot, and most of a large guest's memory is the former. Spread
 * first, it would have the budget for hours; what one node uses alone gains more by each move.
 */
static void consider_all(struct period *p)
{
	static void (*const consider[])(struct period *p, struct page *page) = { bring_home, share_out };
	struct pages *pages = &p->d->pages;
	unsigned int pass;
	size_t i;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < pages->nr_touched; i++)
			if (is_settled(p->d, pages->touched[i]))
				consider[pass](p, pages->touched[i]);
}

static void choose(struct period *p)
{
	struct pages *pages = &p->d->pages;
	unsigned int n, k = __builtin_popcountll(p->nodes.with_cpus);

	memcpy(p->load, p->verdict->measure.load, sizeof(p->load));
	for (n = 0; n < p->d->nr_nodes; n++)
		if (p->nodes.with_cpus >> n & 1)
			p->mean += p->load[n] / k;
	pages_sort(pages);
	large_look_at_ranges(p, p->verdict->state >= STATE_BALANCED);
	if (p->verdict->state == STATE_ACTIVE)
		consider_all(p);
}

static enum state state_of(struct period *p)
{
	struct domain *d = p->d;
	bool may_move = judge_moves(p);

	if (p->verdict->measure.samples < p->config->min_samples)
		return STATE_FEW_SAMPLES;
	if (!(p->nodes.home & (p->nodes.home - 1)))
		return STATE_ONE_HOME;
	if (!is_busy(p))
		return STATE_IDLE;
	switch_heuristics(d, p->config, &p->verdict->measure);
	if (!may_move)
		return STATE_BACKOFF;
	return d->interleaving || d->migrating ? STATE_ACTIVE : STATE_BALANCED;
}

struct outcome decide(struct domain *d, const struct config *config, struct host *host, const struct input *input)
{
	struct outcome out = { .nr = 0 };
	struct verdict *v = &out.verdict;
	struct period p = { .d = d, .config = config, .host = host, .in = input, .verdict = v };
	struct budget share = host_share(host, config, d->hungry);
	bool was_hungry = d->hungry;

	p.nodes = nodes_of(host->topology, d->nr_nodes, input->home);
	p.left = share;
	d->now += input->ns;
	free(d->decision);
	d->decision = NULL;
	d->nr_decisions = d->room_decisions = 0;
	memset(d->small, 0, sizeof(d->small));
	memset(d->whole, 0, sizeof(d->whole));
	pages_next_period(&d->pages, d->now);

	v->measure = measure(input->matrix, &p.nodes);
	v->sharing = __builtin_popcountll(p.nodes.with_cpus);
	v->accesses_per_us = host->accesses_per_us;
	v->touched_pct = input->faults < input->marked ? 100.0 * input->faults / input->marked : 100;
	note_samples(&p);
	learn_chance(&p);
	v->state = state_of(&p);
	v->interleaving = d->interleaving;
	v->migrating = d->migrating;
	choose(&p);

	/* What waits was found, too: it would be remote for good. */
	d->quiet = v->moves || v->held[HELD_COOLDOWN] || v->held[HELD_FROZEN] ? 0 : d->quiet + 1;
	d->hungry = v->moves || v->held[HELD_BUDGET];
	host_took(host, (struct budget){ share.bytes - p.left.bytes, share.moves - p.left.moves }, was_hungry, d->hungry);
	out.decision = d->decision;
	out.nr = d->nr_decisions;
	return out;
}
