/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands between a heuristic's wish and an order: home nodes, room, cool-down, the
 * ping-pong detector, budgets.
 */
#include <stdlib.h>
#include <string.h>

#include "decide/domain.h"

#define FREEZE_SHIFT_MAX 6		/* how often the time of a freeze is doubled */
#define FREEZE_MAX_MS (3600 * 1000U)
#define MOVES_MAX 2			/* of a page, within the time of a ping-pong */

bool can_go_to(const struct period *p, uint8_t node, uint64_t bytes)
{
	return (p->nodes.home >> node & 1) && p->host->room[node] >= bytes;
}

static uint16_t permille(double share)
{
	return share <= 0 ? 0 : share >= 1 ? 1000 : 1000 * share + 0.5;
}

static bool has_room(struct domain *d)
{
	size_t room = d->room_decisions ? 2 * d->room_decisions : 64;
	struct decision *new;

	if (d->nr_decisions < d->room_decisions)
		return true;
	new = realloc(d->decision, room * sizeof(*new));
	if (!new)
		return false;
	/* Between its members, too: the same periods give the same bytes. */
	memset(new + d->room_decisions, 0, (room - d->room_decisions) * sizeof(*new));
	d->decision = new;
	d->room_decisions = room;
	return true;
}

static void note(struct period *p, const struct candidate *w, enum action action, enum why why, uint32_t ms)
{
	struct domain *d = p->d;
	struct window_view view = page_view(w->page);
	uint8_t from = w->page->home;

	d->decision[d->nr_decisions++] = (struct decision) {
		.action = action, .why = why,
		.gfn = w->gfn, .order = w->order, .from = from, .to = w->to,
		.samples = view.count, .agree = view.top_count, .nodes = view.nodes, .hits = w->page->hits,
		.load_from = permille(p->load[from]), .load_to = permille(p->load[w->to]),
		.ms = ms,
	};
}

static void freeze(struct period *p, const struct candidate *w, enum why why)
{
	struct page *page = w->page;
	unsigned int shift = page->freezes < FREEZE_SHIFT_MAX ? page->freezes : FREEZE_SHIFT_MAX;
	uint64_t ms = (uint64_t)p->config->freeze_ms << shift;

	if (ms > FREEZE_MAX_MS)
		ms = FREEZE_MAX_MS;
	if (page->freezes < UINT8_MAX)
		page->freezes++;
	page->pause = PAUSE_FROZEN;
	page->paused_until = p->d->now + ms * MS;
	page->waits = page->fickle = false;
	p->verdict->frozen++;
	if (p->verdict->frozen <= FREEZES_TOLD && has_room(p->d))
		note(p, w, ACTION_FREEZE, why, ms);
}

/*
 * To go back soon is a phase that has changed, or one half of a ping-pong. What lasts as long as a page rests is the former;
 * for a page that was frozen before it has to last longer. Only what one node uses can be seen to last.
 */
static bool may_go_back(const struct period *p, const struct candidate *w)
{
	const struct page *page = w->page;
	unsigned int shift = page->freezes < FREEZE_SHIFT_MAX ? page->freezes : FREEZE_SHIFT_MAX;

	return w->why == WHY_ONE_NODE && page_lasted(&p->d->pages, page, w->to) >= (uint64_t)p->config->cooldown_ms << shift;
}

/* True: it was moved so often, or so recently from where it is to go, that it waits, or is frozen now. */
static bool ping_pong(struct period *p, const struct candidate *w)
{
	struct page *page = w->page;

	if (!page->moved_at || p->d->now - page->moved_at >= p->config->pingpong_ms * MS) {
		page->moves = 0;
		return false;
	}
	if (page->moves >= MOVES_MAX) {
		freeze(p, w, WHY_OFTEN);
	} else if (w->to != page->from || may_go_back(p, w)) {
		return false;
	} else if (page->fickle || w->why != WHY_ONE_NODE) {
		freeze(p, w, WHY_CAME_FROM);
	} else {
		page->waits = true;
		p->verdict->held[HELD_COOLDOWN]++;
	}
	return true;
}

static enum held held_by(const struct page *page)
{
	return page->pause == PAUSE_FROZEN ? HELD_FROZEN : page->pause == PAUSE_FAILED ? HELD_FAILED : HELD_COOLDOWN;
}

static bool test_bit(const uint64_t *bits, unsigned int i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/*
 * An entry that was divided or put together within the period has samples of both kinds. The
 * order of two orders to move the same page would decide where it ends. Ranges with the same
 * hash wait for each other's next period, too.
 */
static bool overlaps(struct domain *d, const struct candidate *w)
{
	unsigned int i = (w->gfn >> ORDER_2M) * 0x9e3779b97f4a7c15ULL >> 48;
	bool small = w->page->order == ORDER_4K;

	if (test_bit(d->whole, i) || (!small && test_bit(d->small, i)))
		return true;
	(small ? d->small : d->whole)[i / 64] |= 1ULL << i % 64;
	return false;
}

static void rest(struct period *p, struct page *page)
{
	page->pause = PAUSE_COOLDOWN;
	page->paused_until = p->d->now + p->config->cooldown_ms * MS;
}

/* What is in the way is counted. */
static bool is_free_to(struct period *p, const struct candidate *w, uint64_t bytes)
{
	unsigned int *held = p->verdict->held;

	if (p->d->now < w->page->paused_until)
		held[held_by(w->page)]++;
	else if (!(p->nodes.home >> w->to & 1))
		held[HELD_NOT_HOME]++;
	else if (p->host->room[w->to] < bytes)
		held[HELD_FULL]++;
	else if (p->left.bytes < bytes || !p->left.moves || !has_room(p->d))
		held[HELD_BUDGET]++;
	else if (w->action != ACTION_COLLAPSE && ping_pong(p, w))
		return false;
	else if (overlaps(p->d, w))
		held[HELD_COOLDOWN]++;
	else
		return true;
	return false;
}

bool order_move(struct period *p, const struct candidate *w)
{
	struct page *page = w->page, *part;
	uint64_t bytes = 1ULL << (PAGE_SHIFT + w->order);
	double weight = (double)page->hits / p->verdict->measure.samples;

	if (!is_free_to(p, w, bytes))
		return false;

	note(p, w, w->action, w->why, w->ms);
	p->left.bytes -= bytes;
	p->left.moves--;
	p->host->room[w->to] -= bytes;
	p->verdict->moves++;
	p->verdict->bytes += bytes;
	/* A part of a page takes no load along. */
	if (w->order == page->order) {
		p->load[page->home] -= weight;
		p->load[w->to] += weight;
	}

	page->from = page->home;
	page->target = w->to;
	page->ordered = w->action == ACTION_MIGRATE || w->action == ACTION_INTERLEAVE;
	page->interleaved = w->action == ACTION_INTERLEAVE;
	page->judge_left = 0;
	page->waits = page->fickle = false;
	page->moved_at = p->d->now;
	page->moved_period = page->period;
	page->moves++;
	rest(p, page);
	/* The part that moved is another page from now on, and rests as well. */
	part = w->order == page->order ? NULL : pages_touch(&p->d->pages, w->gfn, w->order);
	if (part)
		rest(p, part);
	return true;
}
