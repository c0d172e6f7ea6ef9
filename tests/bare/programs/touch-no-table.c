// SPDX-License-Identifier: GPL-2.0-or-later
/* What a guest has written is what it reads, or it is no more: also when its touch needs a table of the p2m that it has not. */
#include "bare.h"

#include "mailbox.h"

GUEST_IMAGE(image, "touch-no-table.guest");

void program(void)
{
	domid_t domid = new_domain(64, 1);
	struct mailbox *mailbox;
	bool ended;

	load_guest(domid, image, image_end);
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 3, NULL, 0);
	start_guest(domid, 1);
	if (!wait_guest(domid, 2))
		crash("the guest does not come so far");
	mailbox = mailbox_of(domid);
	if (mailbox->values[0] != 1)
		crash("there are no 2 MiB that wait");
	note("pages that used up the tables", mailbox->values[1]);
	/* by which these 2 MiB are to be divided */
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 3, NULL, 0);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	ended = wait_guest(domid, GUEST_ENDED);
	note("the guest went on", ended);
	promise("what was written is read, or the guest is no more", !ended || mailbox->values[2]);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
}
