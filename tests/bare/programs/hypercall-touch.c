// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a hypercall touches first is cleared memory of the vCPU's node, 2 MiB where there are, and it is cleared before anybody can
 * write to it: what another vCPU writes meanwhile is not lost.
 */
#include "bare.h"

#include "hypercall-touch.h"
#include "mailbox.h"

#define MIB 64
#define CPU 1			/* of the vCPU with the hypercalls */

GUEST_IMAGE(image, "hypercall-touch.guest");

void program(void)
{
	domid_t domid = new_domain(MIB, GUEST_CPUS);
	unsigned long here = 0, quiet = 0, large;
	struct node_usage before[MOST_NODES], usage[MOST_NODES];
	const struct mailbox *mailbox;

	load_guest(domid, image, image_end);
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 3, NULL, 0);
	for (unsigned long i = 0; i < EXTENTS; i++)
		if (populate(domid, FIRST_GFN + i * PAGES_2M, ORDER_2M, ANY_NODE) != 1)
			crash("there is no memory that waits");
	pin_vcpu(domid, 0, CPU);
	pin_vcpu(domid, 1, !CPU);
	start_guest(domid, GUEST_CPUS);
	if (!wait_guest(domid, 1))
		crash("the guest does not start");
	get_usage(domid, before);
	__atomic_store_n(&mailbox_of(domid)->go, 1, __ATOMIC_SEQ_CST);
	if (!wait_guest(domid, GUEST_ENDED))
		crash("the guest does not survive what its hypercalls touch");
	mailbox = mailbox_of(domid);
	promise("what is written meanwhile is not lost", !mailbox->values[LOST]);
	promise("what is touched is cleared", !mailbox->values[NOT_CLEARED]);
	note("answers", mailbox->values[ANSWERS]);
	/* what was released took them along, or not */
	promise("Xen answers in it", mailbox->values[ANSWERS] >= EXTENTS * 3 / 4);
	for (unsigned long i = 0; i < EXTENTS; i++) {
		if (IS_WRITTEN(i))
			continue;
		quiet++;
		here += node_of_page(domid, FIRST_GFN + i * PAGES_2M + 5) == number_of("node", CPU);
	}
	promise("it is on the node of the vCPU", here == quiet);
	get_usage(domid, usage);
	large = usage[0].pages[XEN_NUMA_USAGE_2M] + usage[1].pages[XEN_NUMA_USAGE_2M];
	note("pages of 2 MiB", large);
	promise("it is 2 MiB where nobody else has been", large >= quiet && !before[0].pages[XEN_NUMA_USAGE_2M] && !before[1].pages[XEN_NUMA_USAGE_2M]);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
}
