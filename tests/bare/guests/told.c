// SPDX-License-Identifier: GPL-2.0-or-later
/* Does what it is told, a step each time: releases pages, or writes to each its gfn. */
#include "hostile.h"
#include "told.h"

static void guest(unsigned long cpu)
{
	static uint64_t events[TOLD_MOST];
	struct xen_page_events all;

	for (uint32_t step = 1; !cpu; step++) {
		uint64_t first, nr;

		while (__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST) < step)
			pause_cpu();
		first = mailbox->values[TOLD_FIRST];
		nr = mailbox->values[TOLD_NR];
		if (mailbox->values[TOLD_WHAT] == TOLD_RELEASE) {
			for (uint64_t i = 0; i < nr; i++)
				events[i] = (first + i) | XEN_PAGE_EVENT_RELEASED;
			all = (struct xen_page_events){ .nr = nr };
			set_xen_guest_handle(all.events, events);
			mailbox->values[TOLD_RESULT] = memory_op(XENMEM_page_events, &all);
		} else {
			for (uint64_t i = 0; i < nr; i++)
				*(volatile uint64_t *)((first + i) << 12) = first + i;
			mailbox->values[TOLD_RESULT] = 0;
		}
		reach(step);
	}
}
