// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest keeps Xen busy in all ways that it has, and Xen does what it is asked.  For how long locks are held meanwhile is counted by
 * tests/bench/hold_time.  Words: a policy, pod, vcpus=, rounds=.
 */
#include <stdint.h>

#include <xen/memory.h>

#include "bare.h"
#include "hypercall.h"
#include "mailbox.h"
#include "hold-time.h"

GUEST_IMAGE(image, "hold-time.guest");

#define MIB 1200UL
#define TABLES_MIB 8UL

static const struct { const char *name; uint32_t policy; } policies[] = {
	{ "none", XEN_NUMA_POLICY_NONE },
	{ "round-4k", XEN_NUMA_POLICY_ROUND_4K },
	{ "round-2m", XEN_NUMA_POLICY_ROUND_2M },
	{ "first-touch", XEN_NUMA_POLICY_FIRST_TOUCH },
};
#define NR_POLICIES (sizeof(policies) / sizeof(*policies))

static const char *const steps[] = {
#define STEP_NAME(constant, text) text,
	STEPS(STEP_NAME)
};

static void more_tables(domid_t domid)
{
	struct xen_domctl op = { .u.paging_mempool.size = TABLES_MIB << 20 };

	if (do_domctl(&op, XEN_DOMCTL_set_paging_mempool_size, domid))
		die_of("d%d gets no tables", domid);
}

/* Half as many pages as there are gfns that wait for one. */
static void populate_on_demand(domid_t domid, unsigned long vcpus)
{
	struct xen_pod_target target = { .domid = domid };
	unsigned long large = vcpus * POD_LARGE;

	for (unsigned long i = 0; i < large; i++) {
		struct xen_memory_reservation reservation = {
			.nr_extents = 1, .extent_order = ORDER_2M, .mem_flags = XENMEMF_populate_on_demand, .domid = domid
		};
		xen_pfn_t gfn = POD_GFN + i * PAGES_2M;

		set_xen_guest_handle(reservation.extent_start, &gfn);
		if (memory_op(XENMEM_populate_physmap, &reservation) != 1)
			die_of("nothing is populated on demand");
	}
	target.target_pages = total_pages(domid) + large / 2 * PAGES_2M;
	if (memory_op(XENMEM_set_pod_target, &target))
		die_of("d%d has no pages to be populated on demand", domid);
}

void program(void)
{
	unsigned long vcpus = number_of("vcpus", 1), rounds = number_of("rounds", 1);
	domid_t domid = new_domain(MIB, vcpus);
	bool has_pod = argument("pod"), lives;
	struct mailbox *mailbox;

	if (vcpus > GUEST_MOST_CPUS || rounds > MOST_ROUNDS)
		die_of("that is more than the guest has room for");
	more_tables(domid);
	for (unsigned int i = 0; i < NR_POLICIES; i++)
		if (argument(policies[i].name))
			set_policy(domid, policies[i].policy, 3, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long gfn = LIST_GFN; gfn <= TABLE_GFN; gfn++)
		if (populate(domid, gfn, 0, ANY_NODE) != 1)
			die_of("there is no memory for lists");
	if (has_pod)
		populate_on_demand(domid, vcpus);
	mailbox = mailbox_of(domid);
	mailbox->values[CPUS] = vcpus;
	mailbox->values[ROUNDS] = rounds;
	mailbox->values[HAS_POD] = has_pod;
	for (unsigned long i = 0; i < vcpus; i++)
		pin_vcpu(domid, i, i + 1);
	start_guest(domid, vcpus);
	for (unsigned long number = 1; number <= rounds * NR_STEPS; number++) {
		if (!wait_guest(domid, number))
			die_of("the guest is no more, at %s", steps[(number - 1) % NR_STEPS]);
		if (number <= NR_STEPS)
			outcome(steps[number - 1], mailbox->values[0]);
		__atomic_store_n(&mailbox->go, number, __ATOMIC_SEQ_CST);
	}
	lives = wait_guest(domid, GUEST_ENDED);
	outcome("the guest came to its end", lives);
	unmap_page(MAILBOX_WINDOW);
	outcome("destroyed", destroy_domain(domid));
}
