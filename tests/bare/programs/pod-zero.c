// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that has used all its pages makes zero again what it has touched last, and touches other gfns: Xen finds those pages, whatever the
 * policy is, although it begins to look far away from them and may not look for long.
 */
#include "bare.h"

#include "pod-zero.h"

GUEST_IMAGE(image, "pod-zero.guest");

#define MIB 160

void program(void)
{
	domid_t domid = new_domain(MIB, 1);
	struct mailbox *mailbox;

	begin_on_demand(domid, POD_GFN, POD_BLOCKS, POD_TARGET);
	load_guest(domid, image, image_end);
	mailbox = start_guest_program(domid, 1);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	outcome("the guest has used other pages", wait_guest(domid, GUEST_ENDED));
	unmap_page(MAILBOX_WINDOW);
	outcome("the guest can be destroyed", !destroy_domain(domid));
}
