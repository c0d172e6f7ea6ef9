/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Caches that know lines, not their content; least recently used goes first.
 *
 * struct filter is the L1 of one CPU, by virtual address, so that a hit costs no look at the emulator's TLB.  struct cache is an
 * L2 or L3, by machine address.  Several threads use an L3, and each of the others if CPUs take lines from one another:
 * entries are single words, read and written without an order.  Two CPUs that use the same set in the same moment may lose a
 * line or keep it twice, never more than that.
 */
#ifndef NUMASIM_CACHE_H
#define NUMASIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

#define LINE_SHIFT 6
#define NO_LINE UINT32_MAX
#define DIRTY 1u

/* A line of memory and whether it was written: line << 1 | DIRTY.  31 bits of line reach 128 GiB. */
typedef uint32_t cached;

struct cache {
	struct geometry shape;
	cached entry[];		/* sets x ways, most recent first */
};

/*
 * An entry has the virtual line, as far as addresses have bits; a part of the machine's line, by which others find it; DIRTY.
 */
struct filter {
	unsigned int ways;
	uint64_t set_mask;
	uint64_t entry[];
};
#define MACHINE_BITS 21
#define LINE_IN_FILTER (MACHINE_BITS + 1)
#define NO_ENTRY UINT64_MAX
#define FILTER_PAGE 64u		/* lines of a page: in these bits virtual and machine addresses agree */

enum hit { MISS, HIT, HIT_CLEAN };	/* HIT_CLEAN: there, but this store is the first to it */

struct cache *cache_new(const struct geometry *shape);
void cache_empty(struct cache *cache);
struct filter *filter_new(const struct geometry *shape);
void filter_empty(struct filter *filter);

/* Forgets the line of an address. */
void filter_drop(struct filter *filter, uint64_t address);
/* Which line of the machine that of the last filter_use() is. */
void filter_tag(struct filter *filter, uint64_t address, uint32_t line);
/* Another CPU wrote a line of the machine, or has read it: it is no more here, or clean.  Another thread may use the filter. */
void filter_lose(struct filter *filter, uint32_t line);
void filter_clean(struct filter *filter, uint32_t line);
/* Takes a line out that is in this way or behind it; or NO_ENTRY. */
uint64_t filter_take(uint64_t *set, unsigned int way, unsigned int ways, uint64_t wanted);
/* Takes a line out; returns it, or NO_LINE. */
cached cache_take(struct cache *cache, uint32_t line);
/* Puts a line in that is not there; returns the one that had to go, or NO_LINE. */
cached cache_put(struct cache *cache, cached line);
/* Is the line there?  Then it is dirty and the most recent from now on. */
bool cache_dirty(struct cache *cache, uint32_t line);

/* The filter's own memory of a line, made the most recent; on a MISS in place of the oldest. */
static inline enum hit filter_use(struct filter *filter, uint64_t address, bool store)
{
	uint64_t line = address >> LINE_SHIFT;
	uint64_t *set = &filter->entry[(line & filter->set_mask) * filter->ways];
	uint64_t wanted = line << LINE_IN_FILTER, moved = set[0];
	enum hit hit = MISS;

	if ((moved ^ wanted) >> LINE_IN_FILTER == 0) {
		if (!store || moved & DIRTY)
			return HIT;
		set[0] = moved | DIRTY;
		return HIT_CLEAN;
	}
	for (unsigned int way = 1; way < filter->ways; way++) {
		uint64_t here = set[way];

		if ((moved ^ wanted) >> LINE_IN_FILTER == 0)
			break;
		/* a hole is filled, and nothing driven out */
		if (moved == NO_ENTRY) {
			moved = filter_take(set, way, filter->ways, wanted);
			break;
		}
		set[way] = moved;
		moved = here;
	}
	if ((moved ^ wanted) >> LINE_IN_FILTER == 0) {
		hit = !store || moved & DIRTY ? HIT : HIT_CLEAN;
		wanted = moved;
	}
	set[0] = wanted | (store ? DIRTY : 0);
	return hit;
}

#endif
