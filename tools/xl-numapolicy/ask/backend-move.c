/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls what libxl has about moving memory, and what it has counted. */
#include <libxl.h>

#include "ask/backend.h"
#include "ask/context.h"

static void copy_moves(struct moves *moves, const libxl_numa_move_pages *pages)
{
	moves->moved = pages->moved;
	moves->there = pages->there;
	moves->in_use = pages->busy;
	moves->unmovable = pages->unmovable;
	moves->no_room = pages->no_room;
	moves->late = pages->late;
	moves->no_table = pages->no_table;
	moves->claimed = pages->claimed;
}

enum result backend_rebalance(uint32_t domid, uint64_t *gfn, unsigned int max_pages,
			      bool dry_run, bool compact, struct moves *moves)
{
	unsigned int flags = (dry_run ? LIBXL_NUMA_REBALANCE_DRY_RUN : 0) | (compact ? LIBXL_NUMA_REBALANCE_COMPACT : 0);
	libxl_numa_move_pages pages;
	int rc;

	_Static_assert(REBALANCE_END == LIBXL_NUMA_REBALANCE_END, "both know the end");
	forget_reason();
	libxl_numa_move_pages_init(&pages);
	rc = libxl_domain_numa_rebalance(ctx, domid, gfn, max_pages, flags, &pages);
	copy_moves(moves, &pages);
	libxl_numa_move_pages_dispose(&pages);
	return result_of(rc);
}

enum result backend_may_move(uint32_t domid, bool compact)
{
	struct moves none = { 0 };
	uint64_t gfn = REBALANCE_END;

	/* From there on there is nothing to move. */
	return backend_rebalance(domid, &gfn, 1, true, compact, &none);
}

static enum result move_stats(uint32_t domid, struct move_stats *stats)
{
	libxl_numa_move_stats all;
	int rc;

	libxl_numa_move_stats_init(&all);
	rc = libxl_domain_numa_move_stats_get(ctx, domid, &all);
	copy_moves(&stats->pages, &all.pages);
	stats->batches = all.batches;
	stats->flush_rounds = all.flush_rounds;
	stats->locked_ns = all.locked_ns;
	stats->longest_ns = all.longest_ns;
	stats->pause_ns = all.pause_ns;
	stats->exceeded = all.exceeded;
	stats->copied_again = all.copied_again;
	libxl_numa_move_stats_dispose(&all);
	return result_of(rc);
}

static enum result touch_stats(uint32_t domid, struct touch_stats *stats)
{
	libxl_numa_touch_stats all;
	int rc, node;

	libxl_numa_touch_stats_init(&all);
	rc = libxl_domain_numa_touch_stats_get(ctx, domid, &all);
	*stats = (struct touch_stats){
		.untouched = all.untouched, .small = all.small, .large = all.large,
		.by_others = all.by_others, .exchanged = all.exchanged,
		.released = all.released, .flush_rounds = all.flush_rounds,
		.absent = all.absent, .in_use = all.busy, .unfit = all.unfit,
		.no_table = all.no_room, .events = all.events, .invalid = all.invalid,
	};
	for (node = 0; node < all.num_reserve && node < NODES_MAX; node++)
		stats->reserve[node] = all.reserve[node];
	libxl_numa_touch_stats_dispose(&all);
	return result_of(rc);
}

enum result backend_stats(uint32_t domid, struct stats *stats)
{
	enum result result;

	forget_reason();
	result = move_stats(domid, &stats->moves);
	return result == RESULT_OK ? touch_stats(domid, &stats->touches) : result;
}
