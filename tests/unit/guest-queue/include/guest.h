/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest with a buddy allocator that has its hooks where mm/page_alloc.c has
 * them, and a Xen that takes away what it is told is free.  Every page in use
 * holds what its owner wrote.
 */
#ifndef GUEST_H
#define GUEST_H

#include "harness.h"
#include "numa-policy-queue.h"

#define NR_ZONES	2
#define BLOCK_PAGES	(1U << MAX_PAGE_ORDER)
#define ZONE_PAGES	(2 * BLOCK_PAGES)
#define NR_PAGES	(NR_ZONES * ZONE_PAGES)
#define NR_QUEUES	2
/* what Xen maps in one piece when it is touched */
#define LARGE_ORDER	4

/* How a block leaves, and comes back into, the buddy allocator. */
enum leave {
	LEAVE_BY_SPLIT,		/* page_del_and_expand() */
	LEAVE_BY_STEAL,		/* try_to_steal_block(), which splits later */
};

extern struct page_event_queue queue[NR_QUEUES];

/* All pages free, their marks as somebody left them; nobody listens. */
void guest_init(void);
void guest_arm(unsigned int threshold);
void guest_disarm(void);
/* report all free memory */
void guest_report(void);
/* A block, with the owner's pattern in it; false when there is none. */
bool guest_alloc(unsigned int zone, unsigned int order, enum leave how,
		 unsigned long *pfn);
/*
 * Verifies the pattern.  With capture, the block that this makes goes to the
 * caller when it gets to be of that order: true then.
 */
bool guest_free(unsigned long pfn, unsigned int order, int capture,
		unsigned long *captured);
/* Takes a free block out and puts it back in pieces, unused. */
void guest_move(unsigned int zone, unsigned int order);

/* What the workers do about kicks; false when there were none. */
bool guest_work(void);

/* Of Xen */
extern unsigned int xen_fails_percent;
bool xen_mapped(unsigned long pfn);
bool guest_is_free(unsigned long pfn);
extern unsigned long xen_calls, xen_events;

#endif /* GUEST_H */
