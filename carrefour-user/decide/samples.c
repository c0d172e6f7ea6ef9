/* SPDX-License-Identifier: GPL-2.0-only */
/* What the samples of a period say of the pages, and of the moves that were made before. */
#include <math.h>

#include "decide/domain.h"

#define JUDGE_SAMPLES 64	/* on moved pages: of fewer too much is chance */
#define JUDGE_PER_PAGE 8	/* so that one hot page does not speak for all */
#define PRIVATE_LEAST 0.001	/* share of accesses to private pages, where none are seen */
#define NEEDED_MAX 32
#define AGAIN_PERIODS 16
#define FAILED_SHIFT_MAX 8	/* how often the pause of a page that cannot move is doubled */

static bool makes_sense(const struct domain *d, const struct sample *s)
{
	return s->node < d->nr_nodes && s->home < d->nr_nodes &&
	       (s->order == ORDER_4K || s->order == ORDER_2M || s->order == ORDER_1G) &&
	       !(s->gfn & ((1ULL << s->order) - 1)) && !(s->gfn >> (64 - PAGE_SHIFT));
}

/* A vCPU that runs elsewhere for a while will be back; its memory waits for it. */
static uint8_t accessing_node(const struct period *p, const struct sample *s)
{
	uint8_t node = s->vcpu < p->in->nr_vcpus ? p->in->vcpu_node[s->vcpu] : NO_NODE;

	return node < p->d->nr_nodes ? node : s->node;
}

/* Where the page should be for this access: on the node that it is on, where that is as near as it can be. */
static uint8_t wanted_node(const struct period *p, const struct sample *s)
{
	uint8_t node = accessing_node(p, s);

	return nodes_local(&p->nodes, node, s->home) ? s->home : p->nodes.wanted[node];
}

void note_failure(struct period *p, struct page *page)
{
	unsigned int shift = page->failures < FAILED_SHIFT_MAX ? page->failures++ : FAILED_SHIFT_MAX;

	page->ordered = false;
	page->pause = PAUSE_FAILED;
	page->paused_until = p->d->now + (p->config->cooldown_ms * MS << shift);
}

/* Only samples tell whether a move took place; those of the period of the order may be from before. */
static void note_arrival(struct period *p, struct page *page, const struct sample *s)
{
	if (s->home == page->target) {
		page->ordered = false;
		page->failures = 0;
		page->judge_left = JUDGE_PER_PAGE;
		page->gains = 0;
	} else if (page->period - page->moved_period >= 2) {
		note_failure(p, page);
	}
}

/* A move is to have gained for half of the samples that tell of it; of a page that all use alike it does for fewer. */
static void note_gain(struct period *p, struct page *page, const struct sample *s)
{
	const double *load = p->verdict->measure.load;
	unsigned int nodes = __builtin_popcountll(p->nodes.with_cpus);
	bool gain = page->interleaved ? load[page->target] <= load[page->from] : nodes_local(&p->nodes, s->node, s->home);

	p->d->judged++;
	if (gain)
		p->d->gained += 1;
	else if (!page->interleaved && nodes > 1)
		p->d->gained -= 1.0 / (nodes - 1);
	page->gains += gain;
	if (!--page->judge_left) {
		p->verdict->told++;
		p->verdict->lost += 2 * page->gains < JUDGE_PER_PAGE;
	}
}

/* What is in the table was sampled again. */
static void note_again(struct period *p, const struct page *page, enum kind kind)
{
	bool same = page->streak > 1;

	if (page->nr_window < 2)
		return;
	p->verdict->again++;
	p->verdict->again_same += same;
	p->d->seen[kind].again++;
	p->d->seen[kind].same += same;
}

/*
 * Of many small pages each is seldom sampled twice before it is forgotten. So the table has 2 MiB of
 * them as one, and each by itself only where several nodes use those.
 */
static bool is_known_by_range(struct period *p, const struct sample *s, uint8_t node)
{
	struct page *range;

	if (s->order != ORDER_4K || (!p->d->pages.nr_ranges && !pages_are_many(&p->d->pages)))
		return false;
	range = large_sample_within(p, s, node);
	if (!range || range->range != RANGE_SMALL || range->mixed)
		return false;
	note_again(p, range, KIND_RANGE);
	return true;
}

static void note_sample(struct period *p, const struct sample *s)
{
	struct domain *d = p->d;
	uint8_t node = wanted_node(p, s);
	struct page *page;

	if (is_known_by_range(p, s, node))
		return;
	page = pages_touch(&d->pages, s->gfn, s->order);
	if (!page) {
		p->verdict->untracked++;
		return;
	}
	page->hits++;
	if (page->ordered)
		note_arrival(p, page, s);
	if (page->judge_left && page->moved_period > p->d->settled && s->home == page->target)
		note_gain(p, page, s);
	page->home = s->home;
	page_note(&d->pages, page, node);
	note_again(p, page, KIND_ENTRY);
	if (page->range == RANGE_COLLAPSING || page->range == RANGE_SMALL) {
		page_set_range(&d->pages, page, RANGE_WHOLE);
	} else if (page->range != RANGE_WHOLE && page->period - page->moved_period >= 2) {
		/* It was not divided, or not by this table's knowledge put together. */
		page_set_range(&d->pages, page, RANGE_WHOLE);
		note_failure(p, page);
	}
}

void note_samples(struct period *p)
{
	size_t i;

	for (i = 0; i < p->in->nr_samples; i++) {
		if (makes_sense(p->d, &p->in->sample[i]))
			note_sample(p, &p->in->sample[i]);
		else
			p->verdict->strange++;
	}
}

/*
 * Samples in a row from one node after which it is more likely that this node alone uses the page than that all do and chance
 * makes it look so. That depends on how much of what is sampled is private; before it is known, half of it is taken to be.
 */
static unsigned int samples_needed(const struct period *p, const struct seen *seen)
{
	double k = __builtin_popcountll(p->nodes.with_cpus), private = 0.5;
	unsigned int needed = p->config->page_samples;

	if (k < 2)
		return needed;
	if (seen->again >= p->config->min_samples)
		private = fmax((seen->same / seen->again - 1 / k) / (1 - 1 / k), PRIVATE_LEAST);
	while (needed < NEEDED_MAX && private < (1 - private) * pow(k, 1.0 - needed))
		needed++;
	return needed;
}

void learn_chance(struct period *p)
{
	unsigned int kind;

	for (kind = 0; kind < NR_KINDS; kind++) {
		struct seen *seen = &p->d->seen[kind];

		p->needed[kind] = samples_needed(p, seen);
		/* What was long ago counts less and less. */
		seen->again -= seen->again / AGAIN_PERIODS;
		seen->same -= seen->same / AGAIN_PERIODS;
	}
}

/*
 * The ratio is measured on the pages that were moved. The domain's own ratio says nothing of
 * a few moves in a terabyte, and changes with the guest's mood. A page that was moved to be
 * local had no local sample; one that all nodes use alike has one in so many wherever it is, so
 * what is not local counts against it, by as much as makes nothing of the two together. Where the
 * vCPU is counts, not where it should be: an affinity that is not kept moves pages for nothing.
 * A page that was interleaved gains as long as its node has no more load than the one that it left.
 * A back-off is for all the moves before it: judged again when it ends, those of a phase that is
 * over would lead to the next one, with nothing moved in between.
 */
bool judge_moves(struct period *p)
{
	struct domain *d = p->d;
	struct verdict *v = p->verdict;

	if (d->judged >= JUDGE_SAMPLES) {
		v->judged = d->judged;
		v->efficiency_pct = d->gained > 0 ? 100 * d->gained / d->judged : 0;
		d->judged = 0;
		d->gained = 0;
		if (v->efficiency_pct >= p->config->efficiency_pct) {
			/* Once may be chance. */
			d->backoff_ns = d->backoff_ns / 2 >= p->config->backoff_ms * MS ? d->backoff_ns / 2 : 0;
		} else if (d->now >= d->backoff_until) {
			d->backoff_ns = d->backoff_ns ? d->backoff_ns * 2 : p->config->backoff_ms * MS;
			if (d->backoff_ns > p->config->backoff_max_ms * MS)
				d->backoff_ns = p->config->backoff_max_ms * MS;
			d->backoff_until = d->now + d->backoff_ns;
			d->settled = d->pages.period;
		}
	}
	v->backoff_ms = d->now < d->backoff_until ? (d->backoff_until - d->now) / MS : 0;
	return d->now >= d->backoff_until;
}
