// SPDX-License-Identifier: GPL-2.0-or-later
/* Domains without a toolstack. */
#include <stdint.h>
#include <string.h>

#include <xen/arch-x86/cpuid.h>
#include <xen/memory.h>
#include <xen/sched.h>
#include <xen/sysctl.h>

#include "bare.h"
#include "hypercall.h"

#define MOST_TABLES 1000	/* more than the pool of any domain here */

long do_domctl(struct xen_domctl *op, uint32_t cmd, domid_t domid)
{
	op->cmd = cmd;
	op->domain = domid;
	op->interface_version = XEN_DOMCTL_INTERFACE_VERSION;
	return hypercall(__HYPERVISOR_domctl, (uintptr_t)op, 0, 0, 0);
}

static void must_domctl(struct xen_domctl *op, uint32_t cmd, domid_t domid)
{
	long result = do_domctl(op, cmd, domid);

	if (result)
		die_of("domctl %u on d%d: %ld", cmd, domid, result);
}

static long create(domid_t *domid, unsigned int vcpus, uint32_t altp2m)
{
	struct xen_domctl create = {
		.u.createdomain = {
			.flags = XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap,
			.max_vcpus = vcpus,
			.max_evtchn_port = 1023,
			.max_grant_frames = 4,
			.max_maptrack_frames = 4,
			.grant_opts = XEN_DOMCTL_GRANT_version(2),
			.altp2m_opts = altp2m,
			.arch.emulation_flags = XEN_X86_EMU_LAPIC,
		},
	};
	static domid_t last;

	*domid = ++last;
	return do_domctl(&create, XEN_DOMCTL_createdomain, *domid);
}

long create_domain(domid_t *domid, unsigned int vcpus)
{
	return create(domid, vcpus, 0);
}

static domid_t new_domain_with(unsigned long mib, unsigned int vcpus, uint32_t altp2m)
{
	struct xen_domctl memory = { .u.max_mem.max_memkb = mib << 10 };
	struct xen_domctl cpus = { .u.max_vcpus.max = vcpus };
	domid_t domid;
	long error = create(&domid, vcpus, altp2m);

	if (error)
		die_of("d%d cannot be created: %ld", domid, error);
	must_domctl(&memory, XEN_DOMCTL_max_mem, domid);
	must_domctl(&cpus, XEN_DOMCTL_max_vcpus, domid);
	return domid;
}

domid_t new_domain(unsigned long mib, unsigned int vcpus)
{
	return new_domain_with(mib, vcpus, 0);
}

domid_t new_altp2m_domain(unsigned long mib, unsigned int vcpus, uint32_t mode)
{
	return new_domain_with(mib, vcpus, mode);
}

/* Before, Xen flushes less; its vCPUs stay down. */
void finish_creation(domid_t domid)
{
	struct xen_domctl op = { 0 };

	must_domctl(&op, XEN_DOMCTL_unpausedomain, domid);
}

void stop_domain(domid_t domid)
{
	struct xen_domctl op = { 0 };

	must_domctl(&op, XEN_DOMCTL_pausedomain, domid);
}

void yield(void)
{
	hypercall(__HYPERVISOR_sched_op, SCHEDOP_yield, 0, 0, 0);
}

void set_max_pages(domid_t domid, unsigned long pages)
{
	struct xen_domctl op = { .u.max_mem.max_memkb = pages << (PAGE_SHIFT - 10) };

	must_domctl(&op, XEN_DOMCTL_max_mem, domid);
}

long destroy_domain(domid_t domid)
{
	struct xen_domctl op = { 0 };

	return do_domctl(&op, XEN_DOMCTL_destroydomain, domid);
}

bool domain_lives(domid_t domid)
{
	struct xen_domctl op = { 0 };

	return !do_domctl(&op, XEN_DOMCTL_getdomaininfo, domid) && op.domain == domid &&
		!(op.u.getdomaininfo.flags & (XEN_DOMINF_dying | XEN_DOMINF_shutdown));
}

void get_domain_info(domid_t domid, struct xen_domctl_getdomaininfo *info)
{
	struct xen_domctl op = { 0 };

	must_domctl(&op, XEN_DOMCTL_getdomaininfo, domid);
	*info = op.u.getdomaininfo;
}

unsigned long total_pages(domid_t domid)
{
	struct xen_domctl_getdomaininfo info;

	get_domain_info(domid, &info);
	return info.tot_pages;
}

void set_affinity(domid_t domid, unsigned long nodes)
{
	struct xen_domctl op = { .u.nodeaffinity.nodemap.nr_bits = 8 * sizeof(nodes) };

	set_xen_guest_handle(op.u.nodeaffinity.nodemap.bitmap, (uint8_t *)&nodes);
	must_domctl(&op, XEN_DOMCTL_setnodeaffinity, domid);
}

void give_native_tsc(domid_t domid)
{
	struct xen_domctl op = { .u.tsc_info.tsc_mode = XEN_CPUID_TSC_MODE_NEVER_EMULATE };

	must_domctl(&op, XEN_DOMCTL_settscinfo, domid);
}

void set_weight(domid_t domid, unsigned int weight)
{
	struct xen_domctl op = { .u.scheduler_op = { .sched_id = XEN_SCHEDULER_CREDIT, .cmd = XEN_DOMCTL_SCHEDOP_putinfo,
						     .u.credit.weight = weight } };

	must_domctl(&op, XEN_DOMCTL_scheduler_op, domid);
}

void pin_vcpu(domid_t domid, unsigned int vcpu, unsigned int cpu)
{
	uint64_t map = 1UL << cpu;
	struct xen_domctl op = { .u.vcpuaffinity = { .vcpu = vcpu, .flags = XEN_VCPUAFFINITY_HARD, .cpumap_hard.nr_bits = 64 } };

	set_xen_guest_handle(op.u.vcpuaffinity.cpumap_hard.bitmap, (uint8_t *)&map);
	must_domctl(&op, XEN_DOMCTL_setvcpuaffinity, domid);
}

static long reservation(unsigned long op, domid_t domid, unsigned long gfn, unsigned int order, unsigned int flags)
{
	struct xen_memory_reservation reservation = { .nr_extents = 1, .extent_order = order, .mem_flags = flags, .domid = domid };
	xen_pfn_t first = gfn;

	set_xen_guest_handle(reservation.extent_start, &first);
	return memory_op(op, &reservation);
}

long populate(domid_t domid, unsigned long gfn, unsigned int order, int node)
{
	return reservation(XENMEM_populate_physmap, domid, gfn, order, node == ANY_NODE ? 0 : XENMEMF_exact_node(node));
}

void begin_on_demand(domid_t domid, unsigned long gfn, unsigned long blocks, unsigned long pages)
{
	struct xen_pod_target target = { .domid = domid, .target_pages = pages };

	/* in the order of a toolstack: pages for the cache, while there are no others; then entries */
	if (memory_op(XENMEM_set_pod_target, &target))
		die_of("there are no pages to be populated on demand");
	for (; blocks--; gfn += PAGES_2M)
		if (reservation(XENMEM_populate_physmap, domid, gfn, ORDER_2M, XENMEMF_populate_on_demand) != 1)
			die_of("nothing is populated on demand");
}

long claim_pages(domid_t domid, unsigned long pages)
{
	struct xen_memory_reservation claim = { .nr_extents = pages, .domid = domid };

	return memory_op(XENMEM_claim_pages, &claim);
}

long release_page(domid_t domid, unsigned long gfn)
{
	return reservation(XENMEM_decrease_reservation, domid, gfn, 0, 0);
}

unsigned long use_up_tables(domid_t domid, unsigned long from)
{
	unsigned long pages;

	for (pages = 0; populate(domid, from + PAGES_1G * pages, 0, ANY_NODE) == 1; pages++)
		if (pages == MOST_TABLES)
			die_of("d%d has tables without end", domid);
	/* each of those took two: what is left, if one is */
	for (unsigned long i = 1; populate(domid, from + PAGES_2M * i, 0, ANY_NODE) == 1; i++)
		;
	return pages;
}

unsigned long free_pages(unsigned int node, unsigned int bits)
{
	struct xen_sysctl op = {
		.cmd = XEN_SYSCTL_availheap,
		.interface_version = XEN_SYSCTL_INTERFACE_VERSION,
		.u.availheap = { .max_bitwidth = bits, .node = node },
	};

	if (hypercall(__HYPERVISOR_sysctl, (uintptr_t)&op, 0, 0, 0))
		die_of("node %u has no free memory that Xen knows of", node);
	return op.u.availheap.avail_bytes >> PAGE_SHIFT;
}

unsigned int online_cpus(void)
{
	struct xen_sysctl op = { .cmd = XEN_SYSCTL_physinfo, .interface_version = XEN_SYSCTL_INTERFACE_VERSION };

	if (hypercall(__HYPERVISOR_sysctl, (uintptr_t)&op, 0, 0, 0))
		die_of("Xen does not tell of its CPUs");
	return op.u.physinfo.nr_cpus;
}
