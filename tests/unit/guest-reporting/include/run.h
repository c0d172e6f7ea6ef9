/* SPDX-License-Identifier: GPL-2.0-only */
/* A buddy allocator, and a Xen that takes away what it is told is free.  A page in use holds what its owner wrote. */
#ifndef RUN_H
#define RUN_H

#include "xen-guest.h"

#define BLOCK_PAGES	(1U << MAX_PAGE_ORDER)
#define NR_ZONES	2
#define ZONE_PAGES	(2 * BLOCK_PAGES)
#define NR_PAGES	(NR_ZONES * ZONE_PAGES)

/* linux.c: what is queued; false when there was nothing */
bool run_kicks(void);
bool run_work(struct workqueue_struct *wq);
bool work_is_left(void);
extern unsigned int kmalloc_fails_percent;
extern unsigned long last_delay;	/* of work that was queued */

/* guest.c */
void guest_init(void);
bool guest_alloc(unsigned int zone, unsigned int order, unsigned long *pfn);
void guest_free(unsigned long pfn, unsigned int order);
/* One page, taken and given back if the lock can be had. */
void guest_try(unsigned int zone);
/* Takes a free block of the largest order out, as hot-unplug and CMA do, and back. */
void guest_isolate(unsigned int zone);
/* Every page is free or in use; with `told`, Xen was told of all that is free in blocks that are large enough. */
void guest_check(bool told);

extern unsigned int xen_fails_percent, short_of_memory_percent;
extern unsigned long xen_calls, xen_events, most_isolated;
extern bool xen_wants, xen_is_short;
/* Somebody suspends, and waits for the work queue; or no longer. */
void freeze(bool on);
/* As on another host: all is mapped. */
void xen_forgets(void);
/* The toolstack writes to control/page-events. */
void toolstack_writes(unsigned int value);

#endif /* RUN_H */
