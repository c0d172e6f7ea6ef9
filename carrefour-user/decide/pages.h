/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the pages of a domain that were sampled: a table of bounded size.
 * When it is full, the page that was not sampled for the longest time goes, but not while it
 * is paused: it would be forgotten why. Of one that goes its moves stay known
 * for longer: a guest whose pages turn the table over would have them go to and fro for ever.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/units.h"

#define WINDOW 8	/* samples that a page remembers */
/*
 * A page that several nodes use in turn looks like one node's when chance has it, and of
 * many pages some always do. So a window that went to and fro as often as MIXED_SWITCHES
 * is remembered, until so many samples in a row came from one node that it was no chance.
 * A change of phase is one switch.
 */
#define MIXED_SWITCHES 3
#define UNMIXED_STREAK 32

/* A p2m entry of 2 MiB that was divided here; or, SMALL, that others made of small pages. */
enum range { RANGE_WHOLE, RANGE_TRIED, RANGE_KEPT, RANGE_COLLAPSING, RANGE_SMALL };

/* Why a page is not to move for a while. */
enum pause { PAUSE_NONE, PAUSE_COOLDOWN, PAUSE_FROZEN, PAUSE_FAILED };

struct page {
	uint64_t gfn;
	uint64_t moved_at, paused_until;	/* ns; moved_at 0: never */
	uint32_t next, newer, older;	/* in the table */
	uint32_t period, moved_period;	/* of hits, and of the last order to move it */
	uint32_t hits;			/* samples in that period */
	uint32_t lasts_ms;		/* since when the window has been .lasting's, but for strays */
	uint8_t window[WINDOW];		/* the nodes of the last samples, around a ring */
	uint8_t nr_window, at;
	uint8_t streak;			/* samples in a row that came from one node, at most 255 */
	uint8_t order;
	uint8_t home;			/* as of the last sample */
	uint8_t from, target;		/* of the last order to move it */
	uint8_t moves;			/* orders within the time of a ping-pong */
	uint8_t failures, freezes;
	uint8_t judge_left;		/* samples that still tell whether the move was good */
	uint8_t gains;			/* of those so far, that told that it was */
	uint8_t range, pause;		/* enum range, enum pause */
	uint8_t lasting;		/* the last node that had a whole window */
	uint8_t away;			/* SMALL: a bit for each of the last samples whose page was on another node */
	bool mixed:1;			/* see MIXED_SWITCHES */
	bool ordered:1;			/* to move, and no sample has told yet that it did */
	bool interleaved:1;		/* what it was moved for, else to be local */
	bool waits:1;			/* to go back to where it came from, until its use has lasted */
	bool fickle:1;			/* its use changed again before that */
};

/* The moves of a page that is not in the table any more. */
struct trail {
	uint64_t gfn, moved_at;		/* struct page's; moved_at 0: nothing is here */
	uint8_t order, from, moves, freezes;
	bool mixed;
};

#define TRAIL_PER_PAGE 2		/* of them, a page in the table */

/* What bounds the memory of a domain, with the hash and the list of a period. */
_Static_assert(sizeof(struct page) <= 80 && sizeof(struct trail) <= 24, "what pages_bytes() counts");

struct pages {
	struct page *page;
	uint32_t *bucket;
	struct page **touched;	/* in this period, each once */
	struct trail *trail;	/* a hash of sets */
	size_t nr_touched;
	uint64_t now;		/* of the period, as paused_until */
	uint32_t nr, max, mask, newest, oldest;
	uint32_t period;
	unsigned int nr_ranges;	/* pages that are not RANGE_WHOLE */
};

/* False: out of memory, and nothing is to be freed. */
bool pages_init(struct pages *pages, uint32_t max);
void pages_free(struct pages *pages);
size_t pages_bytes(uint32_t max);

/*
 * Between periods, before pages_next_period(). Of fewer, the oldest go, and their moves stay known, but 2 MiB on trial
 * stay. False: out of memory, and all is as it was.
 */
bool pages_resize(struct pages *pages, uint32_t max);

#define PAGES_MANY 65536

/* Or another one would have to go for a new one. */
bool pages_are_many(const struct pages *pages);

void pages_next_period(struct pages *pages, uint64_t now);

/* NULL: not there. */
struct page *pages_find(const struct pages *pages, uint64_t gfn, uint8_t order);

/*
 * Notes that the page was seen in this period; new ones are entered. NULL: the table is
 * full of pages of this period, or of those that are kept.
 */
struct page *pages_touch(struct pages *pages, uint64_t gfn, uint8_t order);

/* Sorts touched[]: the most sampled first, then by gfn. */
void pages_sort(struct pages *pages);

void page_set_range(struct pages *pages, struct page *page, enum range range);

/* Enters a sample's node, of this period, into the window. */
void page_note(const struct pages *pages, struct page *page, uint8_t node);
/* For how many ms the node has used the page, and no other one for a whole window; 0: it does not. */
uint32_t page_lasted(const struct pages *pages, const struct page *page, uint8_t node);

/* How the window divides: its most frequent node, how often that is, and how many nodes. */
struct window_view {
	uint8_t top, top_count, count, nodes;
	bool one_node;	/* and not by chance */
};

struct window_view page_view(const struct page *page);

#endif
