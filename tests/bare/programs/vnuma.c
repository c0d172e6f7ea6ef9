// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest that has been told which node its memory is on: no policy, and nobody who moves it, makes that a lie. */
#include <errno.h>
#include <stdint.h>

#include <xen/memory.h>

#include "bare.h"

static void give_vnuma(domid_t domid, unsigned int first, unsigned int second)
{
	uint32_t distances[4] = { 10, 20, 20, 10 }, vcpu_to_vnode[1] = { 0 }, vnode_to_pnode[2] = { first, second };
	xen_vmemrange_t ranges[2] = {
		{ .start = 0, .end = PAGES_2M << PAGE_SHIFT, .nid = 0 },
		{ .start = PAGES_2M << PAGE_SHIFT, .end = 2 * PAGES_2M << PAGE_SHIFT, .nid = 1 },
	};
	struct xen_domctl op = { .u.vnuma = { .nr_vnodes = 2, .nr_vmemranges = 2, .nr_vcpus = 1 } };
	long result;

	set_xen_guest_handle(op.u.vnuma.vdistance, distances);
	set_xen_guest_handle(op.u.vnuma.vcpu_to_vnode, vcpu_to_vnode);
	set_xen_guest_handle(op.u.vnuma.vnode_to_pnode, vnode_to_pnode);
	set_xen_guest_handle(op.u.vnuma.vmemrange, ranges);
	result = do_domctl(&op, XEN_DOMCTL_setvnumainfo, domid);
	if (result)
		die_of("vNUMA of d%d: %ld", domid, result);
}

static long policy_op(struct xen_domctl *op, uint32_t what, domid_t domid)
{
	op->u.numa_policy.op = what;
	return do_domctl(op, XEN_DOMCTL_numa_policy, domid);
}

static long try_set(domid_t domid, uint32_t policy)
{
	struct xen_domctl op = { .u.numa_policy.u.conf.policy = policy };

	return policy_op(&op, XEN_DOMCTL_NUMA_POLICY_SET, domid);
}

static bool has(domid_t domid, uint32_t policy, uint32_t vnuma)
{
	struct xen_domctl op = { 0 };
	uint32_t weight;

	set_xen_guest_handle(op.u.numa_policy.u.conf.weights, &weight);
	return !policy_op(&op, XEN_DOMCTL_NUMA_POLICY_GET, domid) && op.u.numa_policy.u.conf.policy == policy &&
		op.u.numa_policy.u.conf.vnuma == vnuma;
}

static long try_rebalance(domid_t domid, uint32_t flags)
{
	struct xen_domctl op = { .u.numa_policy.u.rebalance = { .nr = UINT32_MAX, .flags = flags } };

	return policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid);
}

static long try_move(domid_t domid)
{
	struct xen_numa_move page = { .gfn = 0, .node = 1 };
	struct xen_domctl op = { .u.numa_policy.u.move.nr = 1 };

	set_xen_guest_handle(op.u.numa_policy.u.move.list, &page);
	return policy_op(&op, XEN_DOMCTL_NUMA_POLICY_MOVE, domid);
}

static long try_sample(domid_t domid)
{
	struct xen_domctl op = { .u.numa_policy.u.sample = {
		.action = XEN_NUMA_SAMPLE_START, .sources = 1U << XEN_NUMA_SAMPLE_HINT_FAULT,
		.entries = 64, .period_ms = 100, .budget = 100, .frames = 2,
	} };

	return policy_op(&op, XEN_DOMCTL_NUMA_POLICY_SAMPLE, domid);
}

static bool all_is_refused(domid_t domid)
{
	for (uint32_t policy = XEN_NUMA_POLICY_ROUND_4K; policy <= XEN_NUMA_POLICY_FIRST_TOUCH; policy++)
		if (try_set(domid, policy) != -EEXIST)
			return false;
	return try_rebalance(domid, 0) == -EEXIST && try_rebalance(domid, XEN_NUMA_REBALANCE_DRY_RUN) == -EEXIST &&
		try_move(domid) == -EEXIST && try_sample(domid) == -EEXIST;
}

static void must_populate(domid_t domid, unsigned long gfn, int node)
{
	if (populate(domid, gfn, ORDER_2M, node) != 1)
		crash("there is no memory");
}

void program(void)
{
	domid_t domid = new_domain(64, 1), untouched = new_domain(64, 1);
	struct node_usage told[MOST_NODES], is[MOST_NODES];

	promise("before, it has the policy of all", has(domid, XEN_NUMA_POLICY_ROUND_4K, 0));
	give_vnuma(domid, 0, 1);
	promise("then none", has(domid, XEN_NUMA_POLICY_NONE, 1));
	must_populate(domid, 0, 0);
	must_populate(domid, PAGES_2M, 1);
	must_populate(domid, 2 * PAGES_2M, ANY_NODE);
	get_usage(domid, told);
	promise("what names no node is not divided", told[0].pages[XEN_NUMA_USAGE_2M] + told[1].pages[XEN_NUMA_USAGE_2M] == 3);

	promise("whatever would undo it is refused", all_is_refused(domid));
	promise("to ask for none is not", !try_set(domid, XEN_NUMA_POLICY_NONE));
	give_vnuma(domid, 1, 0);
	promise("told once more, too", all_is_refused(domid) && has(domid, XEN_NUMA_POLICY_NONE, 1));
	get_usage(domid, is);
	promise("all is where it was", is_same_usage(told, is));

	/* what nobody has touched yet waits on, and goes with the domain */
	set_policy(untouched, XEN_NUMA_POLICY_FIRST_TOUCH, 0x3, NULL, 0);
	must_populate(untouched, 0, ANY_NODE);
	give_vnuma(untouched, 0, 1);
	promise("first-touch ends", has(untouched, XEN_NUMA_POLICY_NONE, 1) && all_is_refused(untouched));
	promise("untouched memory is still there", total_pages(untouched) == PAGES_2M && try_map_page(0, untouched, 5));
	unmap_page(0);
	promise("both can be destroyed", !destroy_domain(domid) && !destroy_domain(untouched));
}
