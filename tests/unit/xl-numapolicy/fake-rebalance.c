/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving memory, what was counted, and the clock by which it takes its time: a step costs what the
 * machine's speed says, sleeping costs nothing, nothing else takes any.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libxl.h>

#include "fake.h"

#define BLOCK 512
#define SECOND 1000000000ULL

enum { MOVED, THERE, BUSY, UNMOVABLE, NO_ROOM, LATE, NO_TABLE, CLAIMED, RESULTS };

/* Memory of one domain, in the order of gfns. */
static struct {
	unsigned int result;
	uint64_t end;
} range[16];

static unsigned int nr_ranges, nr_steps;
static uint64_t speed, now;		/* bytes a second; ns */
static int signal_number, signal_after = -1;
static int becomes = -1, becomes_after = -1;
static int stall_seconds, stall_after = -1;
static libxl_numa_move_stats stats;
static libxl_numa_touch_stats touches;
static uint64_t reserve[64];
static int nr_reserve;
static int arrives;			/* what moves is elsewhere afterwards */

bool read_rebalance_line(const char *word, const char *line)
{
	uint64_t count;

	if (!strcmp(word, "speed"))
		return sscanf(line, "%lu", &speed) == 1;
	if (!strcmp(word, "arrives"))
		return sscanf(line, "%d", &arrives) == 1;
	if (!strcmp(word, "signal"))
		return sscanf(line, "%d %d", &signal_number, &signal_after) == 2;
	if (!strcmp(word, "becomes"))
		return sscanf(line, "%d %d", &becomes, &becomes_after) == 2;
	if (!strcmp(word, "stall"))
		return sscanf(line, "%d %d", &stall_seconds, &stall_after) == 2;
	if (!strcmp(word, "memory")) {
		sscanf(line, "%u %lu", &range[nr_ranges].result, &count);
		range[nr_ranges].end = nr_ranges ? range[nr_ranges - 1].end : 0;
		range[nr_ranges++].end += count;
		return true;
	}
	if (!strcmp(word, "stats"))
		return sscanf(line, "%lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu",
			      &stats.pages.moved, &stats.pages.there,
			      &stats.pages.busy, &stats.pages.unmovable,
			      &stats.pages.no_room, &stats.pages.late,
			      &stats.pages.no_table, &stats.pages.claimed, &stats.batches,
			      &stats.flush_rounds, &stats.locked_ns,
			      &stats.longest_ns, &stats.pause_ns,
			      &stats.exceeded, &stats.copied_again) == 15;
	if (!strcmp(word, "touches"))
		return sscanf(line, "%lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu",
			      &touches.untouched, &touches.small, &touches.large,
			      &touches.by_others, &touches.exchanged,
			      &touches.released, &touches.flush_rounds,
			      &touches.busy, &touches.unfit, &touches.absent,
			      &touches.no_room, &touches.events,
			      &touches.invalid) == 13;
	if (!strcmp(word, "waits"))
		return sscanf(line, "%lu", &reserve[nr_reserve++]) == 1;
	return false;
}

static bool fake_clock(void)
{
	return getenv("FAKE_CLOCK") != NULL;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (!fake_clock())
		return __real_clock_gettime(id, t);
	t->tv_sec = now / SECOND;
	t->tv_nsec = now % SECOND;
	return 0;
}

void pass_time(unsigned int seconds)
{
	now += seconds * SECOND;
}

unsigned int __wrap_sleep(unsigned int seconds)
{
	if (!fake_clock())
		return __real_sleep(seconds);
	now += seconds * SECOND;
	return 0;
}

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout)
{
	static const struct timespec none;
	int signal = __real_sigtimedwait(set, info, fake_clock() ? &none : timeout);

	if (signal < 0 && fake_clock())
		now += timeout->tv_sec * SECOND + timeout->tv_nsec;
	return signal;
}

/* Up to the end of a block of 2 MiB, as Xen does. Nothing beyond the last range. */
static uint64_t one_block(uint64_t gfn, uint64_t count[RESULTS])
{
	uint64_t end = (gfn / BLOCK + 1) * BLOCK;
	unsigned int i;

	for (i = 0; i < nr_ranges; i++)
		for (; gfn < end && gfn < range[i].end; gfn++)
			count[range[i].result]++;
	return nr_ranges && end < range[nr_ranges - 1].end ? end :
	       LIBXL_NUMA_REBALANCE_END;
}

static uint64_t pages_that_stay(void)
{
	uint64_t pages = 0;
	unsigned int i;

	for (i = 0; i < nr_ranges; i++)
		if (range[i].result != MOVED && range[i].result != THERE)
			pages += range[i].end - (i ? range[i - 1].end : 0);
	return pages;
}

int step_of_moving(uint32_t domid)
{
	int step = nr_steps++;

	if (step == becomes_after)
		*policy_of(domid) = becomes;
	if (step == signal_after)
		raise(signal_number);
	return step;
}

int libxl_domain_numa_rebalance(libxl_ctx *ctx, uint32_t domid, uint64_t *gfn,
				uint32_t max_pages, unsigned int flags,
				libxl_numa_move_pages *pages)
{
	uint64_t count[RESULTS] = { 0 };
	int rc, step = 0;

	(void)ctx;
	if (*gfn == LIBXL_NUMA_REBALANCE_END) {
		trace("movable %u\n", domid);
		return fails("movable");
	}
	rc = fails("rebalance");
	step = step_of_moving(domid);
	if (rc)
		return rc;
	if (*policy_of(domid) == LIBXL_NUMA_POLICY_NONE && !(flags & LIBXL_NUMA_REBALANCE_COMPACT))
		return ERROR_NOTFOUND;
	if (*policy_of(domid) == LIBXL_NUMA_POLICY_ROUND_4K && homes_of(domid) > 1 && flags & LIBXL_NUMA_REBALANCE_COMPACT)
		return ERROR_INVAL;

	trace("rebalance %u %lu %u %u at %lu", domid, *gfn, max_pages, flags, now);
	if (step == stall_after)
		now += stall_seconds * SECOND;
	do {
		*gfn = one_block(*gfn, count);
	} while (*gfn != LIBXL_NUMA_REBALANCE_END && count[MOVED] < max_pages);
	trace(" moved %lu\n", count[MOVED]);
	if (speed)
		now += count[MOVED] * 4096 * SECOND / speed;

	if (arrives && *gfn == LIBXL_NUMA_REBALANCE_END && !(flags & LIBXL_NUMA_REBALANCE_DRY_RUN))
		arrive_home(domid, pages_that_stay());

	pages->moved = count[MOVED];
	pages->there = count[THERE];
	pages->busy = count[BUSY];
	pages->unmovable = count[UNMOVABLE];
	pages->no_room = count[NO_ROOM];
	pages->late = count[LATE];
	pages->no_table = count[NO_TABLE];
	pages->claimed = count[CLAIMED];
	return 0;
}

int libxl_domain_numa_move_stats_get(libxl_ctx *ctx, uint32_t domid,
				     libxl_numa_move_stats *all)
{
	(void)ctx;
	(void)domid;
	*all = stats;
	return fails("stats");
}

int libxl_domain_numa_touch_stats_get(libxl_ctx *ctx, uint32_t domid,
				      libxl_numa_touch_stats *all)
{
	int rc = fails("touches");

	(void)ctx;
	(void)domid;
	if (rc)
		return rc;
	*all = touches;
	all->num_reserve = nr_reserve;
	all->reserve = calloc(nr_reserve + 1, sizeof(*all->reserve));
	memcpy(all->reserve, reserve, nr_reserve * sizeof(*all->reserve));
	return 0;
}
