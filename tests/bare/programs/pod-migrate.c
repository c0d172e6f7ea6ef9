// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that has fewer pages than gfns is migrated: a page that was sent is zero afterwards, and Xen takes it for another gfn.  As it was
 * written to it is asked for once more, and the receiver, which does as libxenguest does, has what the guest had.
 */
#include "bare.h"
#include "watch.h"

#include "pod-migrate.h"

GUEST_IMAGE(image, "pod-migrate.guest");

#define MIB 16
#define WINDOW 0

static uint64_t received[POD_PAGES];	/* a word of each page */
static long allocated;			/* pages without content that had been sent with one */

static void send(domid_t domid, unsigned long page)
{
	xen_pfn_t type = POD_GFN + page;
	struct xen_domctl op = { .u.getpageframeinfo3.num = 1 };

	set_xen_guest_handle(op.u.getpageframeinfo3.array, &type);
	if (do_domctl(&op, XEN_DOMCTL_getpageframeinfo3, domid))
		die_of("page %lu has no type", page);
	if (type == XEN_DOMCTL_PFINFO_NOTAB) {
		received[page] = *(volatile uint64_t *)map_page(WINDOW, domid, POD_GFN + page);
		unmap_page(WINDOW);
	} else
		allocated += type == XEN_DOMCTL_PFINFO_XALLOC && received[page];
}

static void send_dirty(domid_t domid)
{
	static uint8_t dirty[(POD_GFN + POD_PAGES) / 8];

	take_dirty(domid, dirty, POD_GFN + POD_PAGES);
	for (unsigned long page = 0; page < POD_PAGES; page++)
		if (dirty[(POD_GFN + page) / 8] >> page % 8 & 1)
			send(domid, page);
}

void program(void)
{
	domid_t domid = new_domain(MIB, 1);
	struct mailbox *mailbox;

	begin_on_demand(domid, POD_GFN, POD_BLOCKS, POD_TARGET);
	load_guest(domid, image, image_end);
	mailbox = start_guest_program(domid, 1);
	log_dirty(domid, true);
	send(domid, 0);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	outcome("the guest has used other pages", wait_guest(domid, GUEST_ENDED));
	send_dirty(domid);
	log_dirty(domid, false);
	outcome("the receiver has what the guest has", received[0] == *(volatile uint64_t *)map_page(WINDOW, domid, POD_GFN));
	note("pages that were sent again without content", allocated);
	unmap_page(WINDOW);
	unmap_page(MAILBOX_WINDOW);
	outcome("the guest can be destroyed", !destroy_domain(domid));
}
