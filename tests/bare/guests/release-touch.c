// SPDX-License-Identifier: GPL-2.0-or-later
/* With first-touch: gives a page back to Xen, and touches it, by which it gets another one, of the node where it runs. */
#include "hostile.h"

static void guest(unsigned long cpu)
{
	uint64_t event;
	struct xen_page_events events = { .nr = 1 };

	if (cpu)
		return;
	reach(1);
	wait_go();
	event = mailbox->values[0] | XEN_PAGE_EVENT_RELEASED;
	set_xen_guest_handle(events.events, &event);
	mailbox->values[1] = memory_op(XENMEM_page_events, &events);
	*(volatile char *)(mailbox->values[0] << 12) = 0;
	reach(GUEST_ENDED);
}
