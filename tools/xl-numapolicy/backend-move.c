/* Calls what libxl has about moving memory. */
#include <libxl.h>

#include "backend.h"
#include "spec.h"

static void copy_moves(struct moves *moves, const libxl_numa_move_pages *pages)
{
	moves->moved = pages->moved;
	moves->there = pages->there;
	moves->in_use = pages->busy;
	moves->unmovable = pages->unmovable;
	moves->no_room = pages->no_room;
}

enum result backend_rebalance(uint32_t domid, uint64_t *gfn, unsigned int max_pages,
			      bool dry_run, struct moves *moves)
{
	libxl_numa_move_pages pages;
	int rc;

	_Static_assert(REBALANCE_END == LIBXL_NUMA_REBALANCE_END, "both know the end");
	forget_reason();
	libxl_numa_move_pages_init(&pages);
	rc = libxl_domain_numa_rebalance(ctx, domid, gfn, max_pages,
					 dry_run ? LIBXL_NUMA_REBALANCE_DRY_RUN : 0,
					 &pages);
	copy_moves(moves, &pages);
	libxl_numa_move_pages_dispose(&pages);
	return result_of(rc);
}

enum result backend_move_stats(uint32_t domid, struct move_stats *stats)
{
	libxl_numa_move_stats all;
	int rc;

	forget_reason();
	libxl_numa_move_stats_init(&all);
	rc = libxl_domain_numa_move_stats_get(ctx, domid, &all);
	copy_moves(&stats->pages, &all.pages);
	stats->batches = all.batches;
	stats->flush_rounds = all.flush_rounds;
	stats->locked_ns = all.locked_ns;
	stats->longest_ns = all.longest_ns;
	libxl_numa_move_stats_dispose(&all);
	return result_of(rc);
}
