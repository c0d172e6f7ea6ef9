// SPDX-License-Identifier: GPL-2.0-or-later
/* populate-pool.c, by a guest on itself: who has no privilege at all does no more harm than to itself. */
#include "bare.h"

#include "mailbox.h"

GUEST_IMAGE(image, "populate-pool.guest");

void program(void)
{
	domid_t domid = new_domain(64, 1);
	struct mailbox *mailbox;

	load_guest(domid, image, image_end);
	start_guest(domid, 1);
	if (!wait_guest(domid, 1))
		crash("the guest does not start");
	outcome("the guest goes on to its end", wait_guest(domid, GUEST_ENDED));
	mailbox = mailbox_of(domid);
	note("tables that there were", mailbox->values[0]);
	outcome("two pages without a table", mailbox->values[1]);
	outcome("two pages where there is a table", mailbox->values[2]);
	unmap_page(MAILBOX_WINDOW);
	outcome("destroyed", destroy_domain(domid));
}
