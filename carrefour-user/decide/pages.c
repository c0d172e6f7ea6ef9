/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of pages: a hash with chains, and a list by age. */
#include <stdlib.h>
#include <string.h>

#include "decide/pages.h"

/* In bucket[] and .next are complements: zeroed memory is empty, and stays the system's. */
#define NONE UINT32_MAX
#define KEPT_MAX 16	/* of the oldest, that are passed over for a new one */
#define WAYS 4		/* places that what is known of a page's moves can have in trail[] */

static uint32_t buckets_for(uint32_t max)
{
	uint32_t buckets = WAYS;

	while (buckets < max)
		buckets *= 2;
	return buckets;
}

size_t pages_bytes(uint32_t max)
{
	const struct pages *t = NULL;

	return max * (sizeof(*t->page) + sizeof(*t->touched)) +
	       buckets_for(max) * (sizeof(*t->bucket) + TRAIL_PER_PAGE * sizeof(*t->trail));
}

bool pages_init(struct pages *t, uint32_t max)
{
	uint32_t buckets = buckets_for(max);

	memset(t, 0, sizeof(*t));
	t->page = calloc(max, sizeof(*t->page));
	t->bucket = calloc(buckets, sizeof(*t->bucket));
	t->touched = calloc(max, sizeof(*t->touched));
	t->trail = calloc(buckets * TRAIL_PER_PAGE, sizeof(*t->trail));
	if (!t->page || !t->bucket || !t->touched || !t->trail) {
		pages_free(t);
		return false;
	}
	t->max = max;
	t->mask = buckets - 1;
	t->newest = t->oldest = NONE;
	return true;
}

void pages_free(struct pages *t)
{
	free(t->page);
	free(t->bucket);
	free(t->touched);
	free(t->trail);
}

bool pages_are_many(const struct pages *t)
{
	return t->nr == t->max || t->nr >= PAGES_MANY;
}

void pages_next_period(struct pages *t, uint64_t now)
{
	t->now = now;
	t->period++;
	t->nr_touched = 0;
}

static uint32_t hash(uint64_t gfn, uint8_t order)
{
	return (gfn + order) * 0x9e3779b97f4a7c15ULL >> 32;
}

/* Guests choose gfns, but the worst that a chain costs is one domain's own period. */
static uint32_t *bucket_of(const struct pages *t, uint64_t gfn, uint8_t order)
{
	return &t->bucket[hash(gfn, order) & t->mask];
}

static bool is_of(const struct trail *trail, uint64_t gfn, uint8_t order)
{
	return trail->moved_at && trail->gfn == gfn && trail->order == order;
}

/* Where the page's moves are remembered, or else the place of those that are the longest ago. */
static struct trail *trail_of(const struct pages *t, uint64_t gfn, uint8_t order)
{
	uint32_t sets = (t->mask + 1) * TRAIL_PER_PAGE / WAYS;
	struct trail *set = &t->trail[(hash(gfn, order) & (sets - 1)) * WAYS], *found = set;
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		if (is_of(&set[i], gfn, order))
			return &set[i];
		if (set[i].moved_at < found->moved_at)
			found = &set[i];
	}
	return found;
}

static void remember_moves(struct pages *t, const struct page *p)
{
	if (p->moved_at)
		*trail_of(t, p->gfn, p->order) = (struct trail){
			.gfn = p->gfn, .moved_at = p->moved_at, .order = p->order, .from = p->from, .moves = p->moves,
			.freezes = p->freezes, .mixed = p->mixed,
		};
}

static void recall_moves(struct pages *t, struct page *p)
{
	struct trail *trail = trail_of(t, p->gfn, p->order);

	if (!is_of(trail, p->gfn, p->order))
		return;
	p->moved_at = trail->moved_at;
	p->from = trail->from;
	p->moves = trail->moves;
	p->freezes = trail->freezes;
	p->mixed = trail->mixed;
	trail->moved_at = 0;
}

struct page *pages_find(const struct pages *t, uint64_t gfn, uint8_t order)
{
	uint32_t i;

	for (i = ~*bucket_of(t, gfn, order); i != NONE; i = ~t->page[i].next)
		if (t->page[i].gfn == gfn && t->page[i].order == order)
			return &t->page[i];
	return NULL;
}

static void unlink_age(struct pages *t, struct page *p)
{
	if (p->newer != NONE)
		t->page[p->newer].older = p->older;
	else
		t->newest = p->older;
	if (p->older != NONE)
		t->page[p->older].newer = p->newer;
	else
		t->oldest = p->newer;
}

static void link_newest(struct pages *t, struct page *p)
{
	uint32_t i = p - t->page;

	p->newer = NONE;
	p->older = t->newest;
	if (t->newest != NONE)
		t->page[t->newest].newer = i;
	else
		t->oldest = i;
	t->newest = i;
}

static void drop(struct pages *t, struct page *p)
{
	uint32_t *link = bucket_of(t, p->gfn, p->order);

	while (~*link != p - t->page)
		link = &t->page[~*link].next;
	*link = p->next;
	remember_moves(t, p);
	page_set_range(t, p, RANGE_WHOLE);
	unlink_age(t, p);
}

/* As a copy, the newest so far. */
static void adopt(struct pages *t, const struct page *from)
{
	struct page *p = &t->page[t->nr++];
	uint32_t *bucket = bucket_of(t, from->gfn, from->order);

	*p = *from;
	p->next = *bucket;
	*bucket = ~(uint32_t)(p - t->page);
	link_newest(t, p);
	t->nr_ranges += p->range != RANGE_WHOLE;
}

bool pages_resize(struct pages *t, uint32_t max)
{
	struct pages new;
	size_t i, trails = (size_t)(t->mask + 1) * TRAIL_PER_PAGE;
	uint32_t go = t->nr > max ? t->nr - max : 0, at;

	if (!pages_init(&new, max))
		return false;
	new.now = t->now;
	new.period = t->period;
	for (i = 0; i < trails; i++)
		if (t->trail[i].moved_at)
			*trail_of(&new, t->trail[i].gfn, t->trail[i].order) = t->trail[i];
	for (at = t->oldest; at != NONE; at = t->page[at].newer) {
		bool goes = go && t->page[at].range != RANGE_TRIED;

		go -= goes;
		if (goes)
			remember_moves(&new, &t->page[at]);
		else
			adopt(&new, &t->page[at]);
	}
	pages_free(t);
	*t = new;
	return true;
}

/* The oldest that may go, which goes; or NULL. */
static struct page *make_room(struct pages *t)
{
	unsigned int kept;

	for (kept = 0; kept <= KEPT_MAX; kept++) {
		struct page *p = &t->page[t->oldest];

		if (p->period == t->period)
			break;
		if (t->now >= p->paused_until && p->range != RANGE_TRIED) {
			drop(t, p);
			return p;
		}
		unlink_age(t, p);
		link_newest(t, p);
	}
	return NULL;
}

static struct page *enter(struct pages *t, uint64_t gfn, uint8_t order)
{
	struct page *p = t->nr < t->max ? &t->page[t->nr++] : make_room(t);
	uint32_t *bucket;

	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->gfn = gfn;
	p->order = order;
	recall_moves(t, p);
	bucket = bucket_of(t, gfn, order);
	p->next = *bucket;
	*bucket = ~(uint32_t)(p - t->page);
	link_newest(t, p);
	return p;
}

struct page *pages_touch(struct pages *t, uint64_t gfn, uint8_t order)
{
	struct page *p = pages_find(t, gfn, order);

	if (p) {
		unlink_age(t, p);
		link_newest(t, p);
	} else {
		p = enter(t, gfn, order);
		if (!p)
			return NULL;
	}
	if (p->period != t->period) {
		p->period = t->period;
		p->hits = 0;
		t->touched[t->nr_touched++] = p;
	}
	return p;
}

static int hotter(const void *a, const void *b)
{
	const struct page *p = *(struct page *const *)a, *q = *(struct page *const *)b;

	if (p->hits != q->hits)
		return p->hits > q->hits ? -1 : 1;
	if (p->gfn != q->gfn)
		return p->gfn < q->gfn ? -1 : 1;
	return (int)p->order - q->order;
}

void pages_sort(struct pages *t)
{
	qsort(t->touched, t->nr_touched, sizeof(*t->touched), hotter);
}

void page_set_range(struct pages *t, struct page *p, enum range range)
{
	t->nr_ranges += (range != RANGE_WHOLE) - (p->range != RANGE_WHOLE);
	p->range = range;
}

static unsigned int switches(const struct page *p)
{
	unsigned int i, nr = 0;

	for (i = 1; i < p->nr_window; i++)
		nr += p->window[(p->at + WINDOW - i) % WINDOW] != p->window[(p->at + 2 * WINDOW - i - 1) % WINDOW];
	return nr;
}

static uint32_t now_ms(const struct pages *t)
{
	return t->now / MS;
}

/* A stray sample is no change of use, a window of them is. */
static void note_use(const struct pages *t, struct page *p, uint8_t node)
{
	if (p->nr_window > 1 && (node == p->lasting || p->streak < p->nr_window))
		return;
	p->fickle |= p->waits;
	p->waits = false;
	p->lasting = node;
	p->lasts_ms = now_ms(t);
}

uint32_t page_lasted(const struct pages *t, const struct page *p, uint8_t node)
{
	return node == p->lasting ? now_ms(t) - p->lasts_ms : 0;
}

void page_note(const struct pages *t, struct page *p, uint8_t node)
{
	uint8_t last = p->window[(p->at + WINDOW - 1) % WINDOW];

	if (!p->nr_window || last != node)
		p->streak = 0;
	if (p->streak < UINT8_MAX)
		p->streak++;
	p->window[p->at] = node;
	p->at = (p->at + 1) % WINDOW;
	if (p->nr_window < WINDOW)
		p->nr_window++;
	note_use(t, p, node);
	if (p->streak >= UNMIXED_STREAK)
		p->mixed = false;
	else if (switches(p) >= MIXED_SWITCHES)
		p->mixed = true;
}

struct window_view page_view(const struct page *p)
{
	struct window_view view = { .count = p->nr_window };
	unsigned int i, j;

	for (i = 0; i < p->nr_window; i++) {
		unsigned int count = 0;
		bool first = true;

		for (j = 0; j < p->nr_window; j++) {
			count += p->window[j] == p->window[i];
			first &= j >= i || p->window[j] != p->window[i];
		}
		view.nodes += first;
		/* Of two that are equal, the lower one, whatever their order. */
		if (count > view.top_count || (count == view.top_count && p->window[i] < view.top)) {
			view.top = p->window[i];
			view.top_count = count;
		}
	}
	view.one_node = view.nodes == 1 && !p->mixed;
	return view;
}
