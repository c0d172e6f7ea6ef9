// SPDX-License-Identifier: GPL-2.0-or-later
/* XEN_DOMCTL_numa_policy, which a Xen without the series refuses: its users run on ours only. */
#include <string.h>

#include "bare.h"

long try_policy_op(struct xen_domctl *op, uint32_t what, domid_t domid)
{
	op->u.numa_policy.op = what;
	return do_domctl(op, XEN_DOMCTL_numa_policy, domid);
}

static void policy_op(struct xen_domctl *op, uint32_t what, domid_t domid)
{
	long result = try_policy_op(op, what, domid);

	if (result)
		die_of("NUMA policy operation %u on d%d: %ld", what, domid, result);
}

static long try_set(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights, uint32_t max_pause_us)
{
	struct xen_domctl op = { 0 };
	struct xen_domctl_numa_policy_conf *conf = &op.u.numa_policy.u.conf;

	conf->policy = policy;
	conf->max_pause_us = max_pause_us;
	conf->nodes.nr_bits = 8 * sizeof(nodes);
	set_xen_guest_handle(conf->nodes.bitmap, (uint8_t *)&nodes);
	conf->nr_weights = nr_weights;
	set_xen_guest_handle(conf->weights, (uint32_t *)weights);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_SET, domid);
}

static void set(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights, uint32_t max_pause_us)
{
	long result = try_set(domid, policy, nodes, weights, nr_weights, max_pause_us);

	if (result)
		die_of("policy %u of d%d: %ld", policy, domid, result);
}

long try_set_policy(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights)
{
	return try_set(domid, policy, nodes, weights, nr_weights, 0);
}

uint32_t get_policy(domid_t domid)
{
	struct xen_domctl op = { 0 };

	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_GET, domid);
	return op.u.numa_policy.u.conf.policy;
}

void set_policy(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights)
{
	set(domid, policy, nodes, weights, nr_weights, 0);
}

void set_limited_policy(domid_t domid, uint32_t policy, unsigned long nodes, uint32_t max_pause_us)
{
	set(domid, policy, nodes, NULL, 0, max_pause_us);
}

void get_stats(domid_t domid, struct xen_domctl_numa_policy_stats *stats)
{
	struct xen_domctl op = { 0 };

	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_STATS, domid);
	*stats = op.u.numa_policy.u.stats;
}

void get_weights(domid_t domid, uint32_t *weights, unsigned int room)
{
	struct xen_domctl op = { 0 };
	struct xen_domctl_numa_policy_conf *conf = &op.u.numa_policy.u.conf;
	unsigned long nodes = 0;

	conf->nodes.nr_bits = 8 * sizeof(nodes);
	set_xen_guest_handle(conf->nodes.bitmap, (uint8_t *)&nodes);
	conf->nr_weights = room;
	set_xen_guest_handle(conf->weights, weights);
	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_GET, domid);
}

unsigned int move_extent(domid_t domid, unsigned long gfn, unsigned int order, unsigned int node)
{
	struct xen_numa_move page = { .gfn = gfn, .node = node, .order = order };
	struct xen_domctl op = { .u.numa_policy.u.move.nr = 1 };

	set_xen_guest_handle(op.u.numa_policy.u.move.list, &page);
	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_MOVE, domid);
	return page.result;
}

unsigned int move_page(domid_t domid, unsigned long gfn, unsigned int node)
{
	return move_extent(domid, gfn, 0, node);
}

static unsigned long rebalance_by(domid_t domid, uint32_t flags)
{
	struct xen_domctl op = { 0 };
	struct xen_domctl_numa_policy_rebalance *step = &op.u.numa_policy.u.rebalance;
	unsigned long moved = 0;

	while (step->gfn != XEN_NUMA_USAGE_END) {
		step->nr = UINT32_MAX;
		step->flags = flags;
		policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid);
		moved += step->pages[XEN_NUMA_MOVE_DONE];
		memset(step->pages, 0, sizeof(step->pages));
	}
	return moved;
}

unsigned long rebalance(domid_t domid)
{
	return rebalance_by(domid, 0);
}

unsigned long would_rebalance(domid_t domid)
{
	return rebalance_by(domid, XEN_NUMA_REBALANCE_DRY_RUN);
}

unsigned long compact(domid_t domid)
{
	return rebalance_by(domid, XEN_NUMA_REBALANCE_COMPACT);
}

unsigned long would_compact(domid_t domid)
{
	return rebalance_by(domid, XEN_NUMA_REBALANCE_COMPACT | XEN_NUMA_REBALANCE_DRY_RUN);
}

void get_usage(domid_t domid, struct node_usage usage[MOST_NODES])
{
	struct xen_domctl op = { .u.numa_policy.u.usage.nr_nodes = MOST_NODES };

	memset(usage, 0, MOST_NODES * sizeof(*usage));
	set_xen_guest_handle(op.u.numa_policy.u.usage.counts, usage[0].pages);
	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_USAGE, domid);
}

unsigned long superpages_of(domid_t domid)
{
	struct node_usage usage[MOST_NODES];
	unsigned long count = 0;

	get_usage(domid, usage);
	for (unsigned int node = 0; node < MOST_NODES; node++)
		count += usage[node].pages[XEN_NUMA_USAGE_2M];
	return count;
}

void locate_pages(domid_t domid, struct xen_numa_page *pages, unsigned int nr)
{
	struct xen_domctl op = { .u.numa_policy.u.locate.nr = nr };

	set_xen_guest_handle(op.u.numa_policy.u.locate.pages, pages);
	while (op.u.numa_policy.u.locate.done < nr)
		policy_op(&op, XEN_DOMCTL_NUMA_POLICY_LOCATE, domid);
}

bool is_same_usage(const struct node_usage a[MOST_NODES], const struct node_usage b[MOST_NODES])
{
	for (int node = 0; node < MOST_NODES; node++)
		for (int size = 0; size < XEN_NUMA_USAGE_SIZES; size++)
			if (a[node].pages[size] != b[node].pages[size])
				return false;
	return true;
}

bool usage_is_located(domid_t domid, unsigned long end)
{
	static struct xen_numa_page pages[256];
	struct node_usage told[MOST_NODES], is[MOST_NODES] = { 0 };

	for (unsigned long gfn = 0; gfn < end; gfn += 256) {
		for (unsigned int i = 0; i < 256; i++)
			pages[i].gfn = gfn + i;
		locate_pages(domid, pages, 256);
		for (unsigned int i = 0; i < 256; i++)
			/* of what is larger the first page stands for all */
			if (pages[i].node != XEN_NUMA_PAGE_NONE && !(pages[i].gfn & ((1UL << pages[i].order) - 1)))
				is[pages[i].node].pages[pages[i].order / ORDER_2M]++;
	}
	get_usage(domid, told);
	return is_same_usage(told, is);
}

unsigned int node_of_page(domid_t domid, unsigned long gfn)
{
	struct xen_numa_page page = { .gfn = gfn };

	locate_pages(domid, &page, 1);
	return page.node;
}

void get_touches(domid_t domid, struct xen_domctl_numa_policy_touches *touches)
{
	struct xen_domctl op = { 0 };

	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_TOUCHES, domid);
	*touches = op.u.numa_policy.u.touches;
}

unsigned long untouched_pages(domid_t domid)
{
	struct xen_domctl op = { 0 };
	uint64_t reserve[MOST_NODES] = { 0 };
	unsigned long pages = 0;

	op.u.numa_policy.u.touches.nr_nodes = MOST_NODES;
	set_xen_guest_handle(op.u.numa_policy.u.touches.reserve, reserve);
	policy_op(&op, XEN_DOMCTL_NUMA_POLICY_TOUCHES, domid);
	for (int node = 0; node < MOST_NODES; node++)
		pages += reserve[node];
	return pages;
}
