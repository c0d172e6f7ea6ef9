/* SPDX-License-Identifier: GPL-2.0-only */
/* A domain's policy, and moving its pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/xen.h"
#include "xen/private.h"

#define LIST 512	/* pages in a hypercall: those of one may take a while together */

_Static_assert(RESULT_DONE == XEN_NUMA_MOVE_DONE && RESULT_THERE == XEN_NUMA_MOVE_THERE &&
	       RESULT_NO_PAGE == XEN_NUMA_MOVE_NO_PAGE && RESULT_BUSY == XEN_NUMA_MOVE_BUSY &&
	       RESULT_UNMOVABLE == XEN_NUMA_MOVE_UNMOVABLE && RESULT_NO_ROOM == XEN_NUMA_MOVE_NO_ROOM &&
	       RESULT_LATE == XEN_NUMA_MOVE_LATE && RESULT_NO_TABLE == XEN_NUMA_MOVE_NO_TABLE &&
	       RESULT_CLAIMED == XEN_NUMA_MOVE_CLAIMED && RESULT_NOT_TRIED == XEN_NUMA_MOVE_RESULTS, "one meaning");

static const char *const policies[] = {
	[XEN_NUMA_POLICY_NONE] = "none", [XEN_NUMA_POLICY_ROUND_4K] = "round-4k", [XEN_NUMA_POLICY_ROUND_2M] = "round-2m",
	[XEN_NUMA_POLICY_ROUND_1G] = "round-1g", [XEN_NUMA_POLICY_FIRST_TOUCH] = "first-touch",
};

#define NR_POLICIES (sizeof(policies) / sizeof(*policies))

int xen_policy_get(unsigned int domid, struct xen_policy *p)
{
	xc_nodemap_t nodes = xc_nodemap_alloc(xen_xc);
	xc_numa_policy_t policy = { .nodes = nodes, .nr_weights = NODES_MAX, .weights = p->weight };
	unsigned int n;
	int error = 0;

	if (!nodes)
		return ENOMEM;
	if (xc_domain_numa_policy_get(xen_xc, domid, &policy)) {
		error = errno;
		free(nodes);
		return error;
	}
	p->name = policy.policy < NR_POLICIES ? policies[policy.policy] : "unknown";
	p->follows_affinity = policy.follows_affinity;
	p->max_pause_us = policy.max_pause_us;
	p->nr_weights = policy.nr_weights < NODES_MAX ? policy.nr_weights : NODES_MAX;
	p->placed = policy.placed;
	p->fallback = policy.fallback;
	p->home = 0;
	for (n = 0; n < xen_nodes(); n++)
		if (nodes[n / 8] >> n % 8 & 1)
			p->home |= 1ULL << n;
	free(nodes);
	return 0;
}

int xen_policy_set(unsigned int domid, const struct xen_policy *p, const char *name)
{
	uint32_t weight[NODES_MAX];
	xc_numa_policy_t policy = { .nr_weights = p->nr_weights, .weights = weight, .max_pause_us = p->max_pause_us };
	unsigned int n;
	int error = 0;

	while (strcmp(policies[policy.policy], name))
		if (++policy.policy == NR_POLICIES)
			return EINVAL;
	memcpy(weight, p->weight, sizeof(weight));
	policy.nodes = xc_nodemap_alloc(xen_xc);
	if (!policy.nodes)
		return ENOMEM;
	/* None set: they go on following the affinity, as do the weights then. */
	for (n = 0; n < xen_nodes() && !p->follows_affinity; n++)
		if (p->home >> n & 1)
			policy.nodes[n / 8] |= 1 << n % 8;
	if (xc_domain_numa_policy_set(xen_xc, domid, &policy))
		error = errno;
	free(policy.nodes);
	return error;
}

_Static_assert(XEN_REBALANCED == XEN_NUMA_USAGE_END, "one meaning");

int xen_rebalance(unsigned int domid, uint64_t *gfn, unsigned int pages, uint64_t *moved, uint64_t *stays)
{
	uint64_t result[XEN_NUMA_MOVE_RESULTS];

	if (xc_domain_numa_rebalance(xen_xc, domid, gfn, pages, 0, result))
		return errno;
	*moved += result[XEN_NUMA_MOVE_DONE];
	*stays += result[XEN_NUMA_MOVE_BUSY] + result[XEN_NUMA_MOVE_UNMOVABLE] + result[XEN_NUMA_MOVE_NO_ROOM] +
		  result[XEN_NUMA_MOVE_LATE] + result[XEN_NUMA_MOVE_NO_TABLE] + result[XEN_NUMA_MOVE_CLAIMED];
	return 0;
}

/* One list; index[] tells which decisions are in it. */
static int move_list(unsigned int domid, xen_numa_move_t *move, const size_t *index, uint32_t nr, enum result *result)
{
	uint32_t done = 0, i;
	int error = xc_domain_numa_move(xen_xc, domid, move, nr, &done) ? errno : 0;

	for (i = 0; i < done && i < nr; i++)
		result[index[i]] = move[i].result < XEN_NUMA_MOVE_RESULTS ? move[i].result : RESULT_NOT_TRIED;
	return error;
}

int xen_move(unsigned int domid, const struct decision *decision, size_t nr, enum result *result)
{
	xen_numa_move_t move[LIST];
	size_t index[LIST], i;
	uint32_t in_list = 0;
	int error = 0;

	for (i = 0; i < nr; i++)
		result[i] = RESULT_NOT_TRIED;
	for (i = 0; i < nr && !error; i++) {
		const struct decision *d = &decision[i];

		if (d->action != ACTION_FREEZE) {
			index[in_list] = i;
			move[in_list++] = (xen_numa_move_t){ .gfn = d->gfn, .node = d->to, .order = d->order };
		}
		if (in_list == LIST) {
			error = move_list(domid, move, index, in_list, result);
			in_list = 0;
		}
	}
	if (in_list && !error)
		error = move_list(domid, move, index, in_list, result);
	return error;
}
