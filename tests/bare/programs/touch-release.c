// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * First-touch: what a vCPU writes to first, or gives back and writes to again, is cleared memory of the node where it runs, or of the home
 * node that there is.
 */
#include <stdint.h>

#include <xen/sysctl.h>

#include "bare.h"
#include "hypercall.h"
#include "touch-release.h"

GUEST_IMAGE(image, "touch-release.guest");

#define CPUS 16

static domid_t domid;
static struct mailbox *mailbox;

static unsigned int node_of_cpu(unsigned int cpu)
{
	struct xen_sysctl_cputopo cpus[CPUS];
	struct xen_sysctl op = {
		.cmd = XEN_SYSCTL_cputopoinfo,
		.interface_version = XEN_SYSCTL_INTERFACE_VERSION,
		.u.cputopoinfo.num_cpus = CPUS,
	};

	set_xen_guest_handle(op.u.cputopoinfo.cputopo, cpus);
	if (hypercall(__HYPERVISOR_sysctl, (uintptr_t)&op, 0, 0, 0) || op.u.cputopoinfo.num_cpus <= cpu)
		die_of("CPU %u has no node", cpu);
	return cpus[cpu].node;
}

/* Of what each vCPU has. */
static unsigned long elsewhere(const unsigned int nodes[GUEST_CPUS])
{
	struct xen_numa_page pages[OWN_PAGES];
	unsigned long wrong = 0;

	for (unsigned int cpu = 0; cpu < GUEST_CPUS; cpu++) {
		for (unsigned int i = 0; i < OWN_PAGES; i++)
			pages[i].gfn = own_gfn(cpu) + i;
		locate_pages(domid, pages, OWN_PAGES);
		for (unsigned int i = 0; i < OWN_PAGES; i++)
			wrong += pages[i].node != nodes[cpu] || pages[i].order != (i < PAGES_2M ? ORDER_2M : 0);
	}
	return wrong;
}

static void touch(uint32_t round)
{
	__atomic_store_n(&mailbox->go, round, __ATOMIC_SEQ_CST);
	if (!wait_guest(domid, round))
		die_of("the guest is no more");
}

void program(void)
{
	const unsigned int here[GUEST_CPUS] = { node_of_cpu(0), node_of_cpu(1) }, there[GUEST_CPUS] = { 1, 1 };
	const unsigned long all = GUEST_CPUS * OWN_PAGES;
	struct xen_domctl_numa_policy_touches is;
	unsigned long had;

	domid = new_domain(64, GUEST_CPUS);
	load_guest(domid, image, image_end);
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 0x3, NULL, 0);
	for (unsigned int cpu = 0; cpu < GUEST_CPUS; cpu++) {
		if (populate(domid, own_gfn(cpu), ORDER_2M, ANY_NODE) != 1)
			crash("there are no 2 MiB");
		for (unsigned int i = PAGES_2M; i < OWN_PAGES; i++)
			if (populate(domid, own_gfn(cpu) + i, 0, ANY_NODE) != 1)
				crash("there is no memory");
		pin_vcpu(domid, cpu, cpu);
	}
	had = total_pages(domid);
	mailbox = mailbox_of(domid);
	start_guest(domid, GUEST_CPUS);
	promise("before, all waits", untouched_pages(domid) == all);

	touch(1);
	promise("it is where it was touched, 2 MiB as such", !elsewhere(here));
	promise("nothing waits any more", !untouched_pages(domid));
	touch(2);
	promise("so it is when it was given back and touched again", !elsewhere(here));
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 1 << 1, NULL, 0);
	touch(3);
	promise("or on the one home node that there is now", !elsewhere(there));

	promise("what is touched is zero", !mailbox->values[NOT_ZERO] && !mailbox->values[NOT_ZERO + 1]);
	promise("to give back is not refused", !mailbox->values[REFUSED] && !mailbox->values[REFUSED + 1]);
	get_touches(domid, &is);
	promise("what was given back is counted", is.released == (TOUCHES - 1) * all && !is.invalid && !is.absent && !is.unfit);
	promise("and what was touched", is.small == TOUCHES * GUEST_CPUS * SINGLES && is.large == TOUCHES * GUEST_CPUS);
	promise("it has as many pages as before", total_pages(domid) == had && !is.untouched);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
}
