// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With first-touch: each vCPU writes to pages of its own, gives all of them back to Xen, and writes to them again, as often as it is let;
 * it tells of words that were not zero before.
 */
#include "hostile.h"
#include "touch-release.h"

static unsigned long events(uint64_t *list, unsigned int nr)
{
	struct xen_page_events events = { .nr = nr };

	set_xen_guest_handle(events.events, list);
	return memory_op(XENMEM_page_events, &events) || events.done != nr;
}

/* 2 MiB at a time, and page by page. */
static unsigned long release_all(unsigned long first)
{
	uint64_t list[1 + SINGLES] = { first | (uint64_t)ORDER_2M << XEN_PAGE_EVENT_ORDER_SHIFT | XEN_PAGE_EVENT_RELEASED };

	for (unsigned int i = 0; i < SINGLES; i++)
		list[1 + i] = (first + PAGES_2M + i) | XEN_PAGE_EVENT_RELEASED;
	return events(list, 1 + SINGLES);
}

/* The first touch of each page is a write. */
static unsigned long write_all(unsigned long first)
{
	unsigned long not_zero = 0;

	for (unsigned long gfn = first; gfn < first + OWN_PAGES; gfn++) {
		volatile uint64_t *words = (volatile uint64_t *)(gfn << 12);

		words[0] = gfn;
		for (unsigned int i = 1; i < 512; i++) {
			not_zero += words[i] != 0;
			words[i] = gfn;
		}
	}
	return not_zero;
}

static void guest(unsigned long cpu)
{
	static uint32_t done[TOUCHES + 1];
	unsigned long first = own_gfn(cpu);

	for (uint32_t round = 1; round <= TOUCHES; round++) {
		while (__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST) < round)
			pause_cpu();
		if (round > 1)
			mailbox->values[REFUSED + cpu] += release_all(first);
		mailbox->values[NOT_ZERO + cpu] += write_all(first);
		if (__atomic_add_fetch(&done[round], 1, __ATOMIC_SEQ_CST) == GUEST_CPUS)
			reach(round);
	}
}
