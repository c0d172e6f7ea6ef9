// SPDX-License-Identifier: GPL-2.0-or-later
/* Other tables hold the same pages once altp2m is on: sampling ends, and nothing is moved any more, nor first touched. */
#include <errno.h>
#include <stdint.h>

#include <xen/hvm/hvm_op.h>
#include <xen/memory.h>

#include "bare.h"
#include "hypercall.h"
#include "mailbox.h"
#include "sampling.h"

GUEST_IMAGE(image, "verified.guest");

#define ARENA (4 * PAGES_2M)
#define PAGES 64UL
#define ENTRIES 64
#define PERIOD_MS 200		/* nobody reads: it would end by itself after 16 of them */

static domid_t domid;

static uint32_t sampling(void)
{
	uint64_t samples[MOST_NODES * MOST_NODES];
	struct xen_domctl_numa_policy_sample counters;

	get_sampling(domid, &counters, samples);
	return counters.state;
}

static long start(void)
{
	return try_start_sampling(domid, ENTRIES, PERIOD_MS, 2);
}

static long try_rebalance(uint32_t flags)
{
	struct xen_domctl op = { .u.numa_policy.u.rebalance = { .nr = UINT32_MAX, .flags = flags } };

	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid);
}

static long try_move(unsigned int node)
{
	struct xen_numa_move page = { .gfn = ARENA, .node = node };
	struct xen_domctl op = { .u.numa_policy.u.move.nr = 1 };

	set_xen_guest_handle(op.u.numa_policy.u.move.list, &page);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_MOVE, domid);
}

static long switch_on(void)
{
	struct xen_hvm_altp2m_op op = {
		.version = HVMOP_ALTP2M_INTERFACE_VERSION,
		.cmd = HVMOP_altp2m_set_domain_state,
		.domain = domid,
		.u.domain_state.state = 1,
	};

	return hypercall(__HYPERVISOR_hvm_op, HVMOP_altp2m, (uintptr_t)&op, 0, 0);
}

static unsigned long pages_on(unsigned int node)
{
	struct xen_numa_page pages[PAGES];
	unsigned long count = 0;

	for (unsigned long i = 0; i < PAGES; i++)
		pages[i].gfn = ARENA + i;
	locate_pages(domid, pages, PAGES);
	for (unsigned long i = 0; i < PAGES; i++)
		count += pages[i].node == node;
	return count;
}

void program(void)
{
	struct mailbox *mailbox;
	uint32_t state;

	/* with first-touch as the machine's default */
	domid = new_altp2m_domain(64, GUEST_CPUS, XEN_DOMCTL_ALTP2M_external);
	promise("one that may use altp2m has what is not in its way", get_policy(domid) == XEN_NUMA_POLICY_ROUND_4K);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 1 << 0, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long i = 0; i < PAGES; i++)
		if (populate(domid, ARENA + i, 0, ANY_NODE) != 1)
			crash("there is no memory");
	mailbox = start_verified(domid, ARENA, PAGES, 0);
	wait_rounds(domid, mailbox, 2);

	/* that it might be switched on is no reason */
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 1 << 1, NULL, 0);
	promise("before, its memory moves", rebalance(domid) >= PAGES && pages_on(1) == PAGES && !try_move(1));
	promise("and is sampled", !start() && sampling() == XEN_NUMA_SAMPLE_RUNNING);
	wait_rounds(domid, mailbox, 2);
	if (sampling() != XEN_NUMA_SAMPLE_RUNNING)
		crash("sampling has ended before its time");
	if (switch_on())
		crash("altp2m cannot be switched on");

	while ((state = sampling()) == XEN_NUMA_SAMPLE_RUNNING)
		yield();
	promise("sampling ends, as it cannot be", state == XEN_NUMA_SAMPLE_UNFIT);
	promise("nor can it begin", start() == -EOPNOTSUPP);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 1 << 0, NULL, 0);
	promise("nothing is moved", try_move(0) == -EOPNOTSUPP);
	promise("nor rebalanced", try_rebalance(0) == -EOPNOTSUPP && try_rebalance(XEN_NUMA_REBALANCE_DRY_RUN) == -EOPNOTSUPP);
	promise("nor first touched", try_set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 0x3, NULL, 0) == -EOPNOTSUPP);
	promise("the policy is the one that it had", get_policy(domid) == XEN_NUMA_POLICY_ROUND_4K);
	promise("all is where it was", pages_on(1) == PAGES);

	wait_rounds(domid, mailbox, 2);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	promise("the guest goes on, and what it wrote is there",
		wait_guest(domid, GUEST_ENDED) && !wrong_of_guest(mailbox));
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
	/* not before: who is given its tables' pages has them as they are */
	promise("another one has the default", get_policy(new_domain(64, GUEST_CPUS)) == XEN_NUMA_POLICY_FIRST_TOUCH);
}
