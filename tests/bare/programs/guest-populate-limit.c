// SPDX-License-Identifier: GPL-2.0-or-later
/* Two vCPUs of a guest populate, and its limit is between them: who is too late is refused, and all goes on. */
#include "bare.h"

#include "mailbox.h"

#define ROOM 96			/* each vCPU asks for 64 pages */

GUEST_IMAGE(image, "populate-limit.guest");

void program(void)
{
	domid_t domid = new_domain(64, 2);
	struct mailbox *mailbox;
	unsigned long before;

	load_guest(domid, image, image_end);
	/* for the tables of what follows */
	if (populate(domid, 0x400, 0, ANY_NODE) != 1 || populate(domid, 0x800, 0, ANY_NODE) != 1)
		crash("there is no memory");
	before = total_pages(domid);
	set_max_pages(domid, before + ROOM);
	start_guest(domid, 2);
	if (!wait_guest(domid, 1))
		crash("the guest does not start");
	outcome("the guest goes on to its end", wait_guest(domid, GUEST_ENDED));
	mailbox = mailbox_of(domid);
	outcome("times that both had 64 pages of 96", mailbox->values[0]);
	note("times that none had", mailbox->values[1]);
	outcome("pages that the guest has not given back", total_pages(domid) - before);
	unmap_page(MAILBOX_WINDOW);
	outcome("destroyed", destroy_domain(domid));
}
