/* SPDX-License-Identifier: MIT */
/*
 * The part of Xen's public/memory.h that kernels without our series lack;
 * what it means is said there.
 */
#ifndef _PAGE_EVENTS_H
#define _PAGE_EVENTS_H

#include <linux/bits.h>
#include <linux/types.h>

#include <xen/interface/xen.h>

#define XENMEM_page_events 29
struct xen_page_events {
	GUEST_HANDLE(uint64_t) events;	/* IN: oldest first */
	u32 nr;				/* IN */
#define XENMEM_PAGE_EVENTS_MAX 1024
	u32 done;			/* IN: 0 */
};

/* An event: the first frame in bits 0-51, the order in bits 52-57. */
#define XENMEM_PAGE_EVENT_ORDER_SHIFT	52
#define XENMEM_PAGE_EVENT_RELEASED	BIT_ULL(63)

#endif /* _PAGE_EVENTS_H */
