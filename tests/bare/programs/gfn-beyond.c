// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest populates a gfn of 64 bits.  Stock Xen takes it for another page, and its memory for 2^63 pages:
 * nobody could count them, or move them to the end.
 */
#include "bare.h"

#include "mailbox.h"

GUEST_IMAGE(image, "gfn-beyond.guest");

void program(void)
{
	domid_t domid = new_domain(64, 1);

	load_guest(domid, image, image_end);
	start_guest(domid, 1);
	outcome("the guest goes on to its end", wait_guest(domid, GUEST_ENDED));
	promise("the first page beyond is refused", !mailbox_of(domid)->values[0]);
	promise("the last one is, too", !mailbox_of(domid)->values[1]);
	promise("what stock takes for another is refused", !mailbox_of(domid)->values[2]);
	promise("2 MiB of it are refused", !mailbox_of(domid)->values[3]);
	unmap_page(MAILBOX_WINDOW);
	outcome("destroyed", destroy_domain(domid));
}
