/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Large pages. 2 MiB move whole. They are divided only where several nodes fight over one, and
 * since nobody can know whether the small pages divide better, that is a trial: some at a
 * time, and what did not help is collapsed again. To divide an entry costs the move of its first
 * part. 1 GiB cannot be moved whole, so it becomes 2 MiB where something is to be moved.
 *
 * The states of 2 MiB (struct page.range, which page_set_range() alone writes; here and in samples.c):
 *
 *	state		begins when					is left for
 *	WHOLE		it is seen first, or seen whole again		TRIED
 *	TRIED		its first part was ordered to move		KEPT: it gained, or cannot be put together
 *									COLLAPSING: it did not gain
 *									WHOLE: it is seen whole, so never was divided
 *	KEPT		see TRIED					COLLAPSING: one node alone uses it again
 *									WHOLE: it is seen whole
 *	SMALL		small pages are seen, and there are many	COLLAPSING: one node uses it, from afar
 *									WHOLE: it is seen whole
 *	COLLAPSING	it was ordered to be put together		WHOLE: it is seen whole
 *									KEPT, SMALL: small pages are still seen, periods later
 */
#include "decide/domain.h"

#define FIGHT_SHARE 6		/* of the WINDOW samples: one node with more is no fight */
#define AWAY 5			/* of the last 8 samples: fewer are moved one by one */
#define TRIAL_SAMPLES 16	/* fewer in half of a trial: nobody would miss it */
#define ONE_NODE_STREAK 64	/* samples in a row; by chance this does not happen */
#define TRIALS_LAST 4ULL	/* times as long as a trial, then it stays divided */
#define PAUSE_MAX_NS (24 * 3600 * 1000 * MS)

_Static_assert(ONE_NODE_STREAK <= UINT8_MAX, "what a page can count");

static bool may_try(const struct period *p)
{
	return p->d->nr_trials < p->config->splits && p->d->now >= p->d->split_pause_until;
}

static uint8_t most_frequent_elsewhere(const struct period *p, const struct page *page, uint64_t bytes)
{
	unsigned int i, j, best = 0;
	uint8_t to = NO_NODE;

	for (i = 0; i < page->nr_window; i++) {
		uint8_t node = page->window[i];
		unsigned int count = 0;

		if (node == page->home || !can_go_to(p, node, bytes))
			continue;
		for (j = 0; j < page->nr_window; j++)
			count += page->window[j] == node;
		if (count > best || (count == best && node < to)) {
			best = count;
			to = node;
		}
	}
	return to;
}

void large_split(struct period *p, struct page *page, const struct window_view *view)
{
	struct domain *d = p->d;
	bool hot = page->hits * 100 > p->verdict->measure.samples * p->config->hot_page_pct;
	bool huge = page->order == ORDER_1G;
	struct candidate wish = {
		.action = ACTION_SPLIT, .page = page, .gfn = page->gfn, .order = huge ? ORDER_2M : ORDER_4K,
		.why = huge ? WHY_HUGE : hot ? WHY_HOT : WHY_FOUGHT_OVER,
	};

	if (!huge && (view->count < WINDOW || view->top_count > FIGHT_SHARE || !may_try(p)))
		return;
	wish.to = most_frequent_elsewhere(p, page, 1ULL << (PAGE_SHIFT + wish.order));
	if (wish.to == NO_NODE || !order_move(p, &wish) || huge)
		return;
	page_set_range(&d->pages, page, RANGE_TRIED);
	page->streak = 0;
	d->trial[d->nr_trials++] = (struct trial) {
		.gfn = page->gfn, .since = d->now, .before = 1000 * view->top_count / view->count,
	};
}

static struct trial *find_trial(struct domain *d, uint64_t gfn)
{
	unsigned int i;

	for (i = 0; i < d->nr_trials; i++)
		if (d->trial[i].gfn == gfn)
			return &d->trial[i];
	return NULL;
}

/* 2 MiB of small pages that a sample is of, which have a place in the table from now on. */
static struct page *enter_range(struct period *p, uint64_t gfn)
{
	struct pages *pages = &p->d->pages;
	struct page *range = pages_find(pages, gfn, ORDER_2M);

	if ((!range || range->range == RANGE_WHOLE) && !pages_are_many(pages))
		return NULL;
	range = pages_touch(pages, gfn, ORDER_2M);
	if (range && range->range == RANGE_WHOLE && !range->ordered)
		page_set_range(pages, range, RANGE_SMALL);
	return range && range->range != RANGE_WHOLE ? range : NULL;
}

struct page *large_sample_within(struct period *p, const struct sample *s, uint8_t node)
{
	struct domain *d = p->d;
	uint64_t gfn = s->gfn & ~((1ULL << ORDER_2M) - 1);
	struct page *range = enter_range(p, gfn);
	struct trial *trial;

	if (!range)
		return NULL;
	range->home = s->home;
	range->away = range->away << 1 | (node != s->home);
	page_note(&d->pages, range, node);
	if (range->range == RANGE_SMALL)
		range->hits++;
	if (range->range == RANGE_COLLAPSING && range->period - range->moved_period >= 2) {
		page_set_range(&d->pages, range, range->ordered ? RANGE_SMALL : RANGE_KEPT);
		if (range->ordered)
			note_failure(p, range);
	}
	trial = range->range == RANGE_TRIED ? find_trial(d, gfn) : NULL;
	if (trial && d->now - trial->since >= p->config->split_ms * MS / 2) {
		trial->samples++;
		trial->local += node == s->home;
	}
	return range;
}

/* Small pages that one node uses, most of them from afar: they go there together, and are 2 MiB then. */
static void bring_together(struct period *p, struct page *range)
{
	struct window_view view = page_view(range);
	struct candidate wish = {
		.action = ACTION_MIGRATE, .why = WHY_ONE_NODE, .page = range, .gfn = range->gfn, .order = ORDER_2M, .to = view.top,
	};

	if (view.one_node && view.count == WINDOW && range->streak >= p->needed[KIND_RANGE] && view.top != range->home &&
	    __builtin_popcount(range->away) >= AWAY && order_move(p, &wish))
		page_set_range(&p->d->pages, range, RANGE_COLLAPSING);
}

static bool collapse(struct period *p, struct page *range, enum why why, uint8_t to)
{
	struct candidate wish = {
		.action = ACTION_COLLAPSE, .why = why, .page = range, .gfn = range->gfn, .order = ORDER_2M, .to = to,
		.ms = (p->d->now - range->moved_at) / MS,
	};

	if (!order_move(p, &wish))
		return false;
	page_set_range(&p->d->pages, range, RANGE_COLLAPSING);
	return true;
}

/* Each failure makes the next try wait longer, so that a guest that is as it is gets left alone. */
static void pause_trials(struct domain *d, const struct config *config)
{
	if (d->now < d->split_pause_until)
		return;
	d->split_pause_ns = d->split_pause_ns ? d->split_pause_ns * 2 : config->freeze_ms * MS;
	if (d->split_pause_ns > PAUSE_MAX_NS)
		d->split_pause_ns = PAUSE_MAX_NS;
	d->split_pause_until = d->now + d->split_pause_ns;
}

/* True: it is over. */
static bool judge_trial(struct period *p, const struct trial *t, bool may_collapse)
{
	struct domain *d = p->d;
	struct page *range = pages_find(&d->pages, t->gfn, ORDER_2M);
	uint8_t to;

	/* It was never divided. */
	if (!range || range->range != RANGE_TRIED)
		return true;
	if (d->now - t->since < p->config->split_ms * MS)
		return false;
	if (t->samples >= TRIAL_SAMPLES &&
	    1000 * t->local / t->samples >= t->before + 10 * p->config->split_gain_pct) {
		page_set_range(&d->pages, range, RANGE_KEPT);
		d->split_pause_ns = 0;
		return true;
	}
	pause_trials(d, p->config);
	/* It cannot be put together: no room, too busy. */
	if (d->now - t->since >= TRIALS_LAST * p->config->split_ms * MS) {
		page_set_range(&d->pages, range, RANGE_KEPT);
		return true;
	}
	if (!may_collapse)
		return false;
	to = page_view(range).top;
	return collapse(p, range, WHY_NO_GAIN, can_go_to(p, to, MIB * 2) ? to : range->home);
}

void large_look_at_ranges(struct period *p, bool may_collapse)
{
	struct domain *d = p->d;
	unsigned int i, kept = 0;
	size_t t;

	for (i = 0; i < d->nr_trials; i++)
		if (!judge_trial(p, &d->trial[i], may_collapse))
			d->trial[kept++] = d->trial[i];
	d->nr_trials = kept;
	p->verdict->splits_open = kept;

	for (t = 0; may_collapse && t < d->pages.nr_touched; t++) {
		struct page *range = d->pages.touched[t];

		if (range->range == RANGE_KEPT && range->streak >= ONE_NODE_STREAK)
			collapse(p, range, WHY_ONE_NODE_AGAIN, page_view(range).top);
		else if (range->range == RANGE_SMALL && p->verdict->state == STATE_ACTIVE && d->migrating)
			bring_together(p, range);
	}
}
