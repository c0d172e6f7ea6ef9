// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PV domain has mapped a guest's page, and its TLB still knows when the page table no longer does.  Before the frame becomes
 * another domain's, Xen flushes: however the guest lost it.
 */
#include "bare.h"

#include "mailbox.h"

#define GFN 16
#define OTHER 17		/* stays, and tells when the TLB is flushed */
#define FROM 1			/* node */
#define TO 0

#define CPU_OF_TO 1		/* not dom0's, whose TLB must be left alone */

enum { OLD, NEW, CONTROL };	/* windows */

GUEST_IMAGE(image, "release-touch.guest");

static unsigned long fill(domid_t domid, unsigned int node)
{
	unsigned long gfn = 0;

	while (populate(domid, gfn, ORDER_2M, node) == 1)
		gfn += PAGES_2M;
	while (populate(domid, gfn, 0, node) == 1)
		gfn++;
	return gfn;
}

static void start(domid_t domid)
{
	load_guest(domid, image, image_end);
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 1UL << FROM | 1UL << TO, NULL, 0);
	pin_vcpu(domid, 0, CPU_OF_TO);
	start_guest(domid, 1);
	if (!wait_guest(domid, 1))
		crash("the guest does not start");
}

static void let_go(domid_t domid)
{
	struct mailbox *mailbox = mailbox_of(domid);

	mailbox->values[0] = GFN;
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	if (!wait_guest(domid, GUEST_ENDED) || mailbox->values[1])
		crash("the guest does not give the page back");
}

static void lose_page(domid_t domid)
{
	if (argument("reserve")) {
		let_go(domid);
	} else if (argument("move")) {
		if (move_page(domid, GFN, TO) != XEN_NUMA_MOVE_DONE)
			crash("the page does not move");
	} else if (argument("rebalance")) {
		set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 1UL << TO, NULL, 0);
		if (rebalance(domid) != 1)
			crash("rebalancing does not move the page");
	} else if (release_page(domid, GFN) != 1) {
		crash("the page cannot be released");
	}
}

void program(void)
{
	domid_t first = new_domain(64, 1), second = new_domain(512, 1);
	volatile uint64_t *old, *new, *control;
	unsigned long frame, next;
	uint64_t value;
	bool seen;

	/* while a domain is built, Xen does not flush for it */
	finish_creation(second);
	if (argument("reserve"))
		start(first);
	else
		finish_creation(first);
	if (populate(first, GFN, 0, FROM) != 1 || populate(first, OTHER, 0, TO) != 1)
		crash("there is no page");
	/* so that the next page there is the one that comes free */
	next = fill(second, FROM);

	old = map_page(OLD, first, GFN);
	control = map_page(CONTROL, first, OTHER);
	frame = frame_of(OLD);
	*old = *control = 1;
	clear_entry(OLD);
	clear_entry(CONTROL);
	if (!peek(old, &value) || !peek(control, &value))
		crash("this processor forgets at once what it had mapped");
	lose_page(first);
	note("the TLB was flushed before the frame was taken", !peek(control, &value));

	if (populate(second, next, 0, FROM) != 1)
		crash("the frame has not come free");
	note("the TLB was flushed when the frame had been taken", !peek(control, &value));
	new = map_page(NEW, second, next);
	if (frame_of(NEW) != frame)
		crash("another frame has come");
	*new = 2;
	seen = peek(old, &value);
	outcome("another domain's page is seen", seen);
	promise("another domain's page is not seen", !seen);
}
