// SPDX-License-Identifier: GPL-2.0-or-later
/* A domain is destroyed by one CPU while another one puts its memory together, divides it, and asks where it is, at any moment of that. */
#include <errno.h>

#include "bare.h"
#include "hypercall.h"
#include "random.h"

#define NODES 2
#define INTERRUPTED 10
#define BLOCKS 4UL
#define XMALLOC_KEEPS 16	/* pages, for the next time */

static volatile unsigned long round, steps, destroyed;
static volatile domid_t domid;
static volatile long result;

static void destroy_each(void)
{
	struct random random = { number_of("seed", 1) };

	for (unsigned long mine = 1;; mine++) {
		volatile unsigned long turns = 1, i;

		while (round < mine)
			pause_cpu();
		/* as long as a step takes, whatever the clock says */
		while (!steps)
			turns++;
		turns = below(&random, 2 * turns);
		for (i = 0; i < turns; i++)
			;
		result = destroy_domain(domid);
		destroyed = mine;
	}
}

/* Small pages, on the nodes in turn. */
static void create(void)
{
	domid_t new = new_domain(64, 1);

	set_policy(new, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
	for (unsigned long i = 0; i < BLOCKS; i++)
		if (populate(new, PAGES_2M * i, ORDER_2M, ANY_NODE) != 1)
			crash("there is no memory");
	domid = new;
}

static long ask(void)
{
	struct xen_domctl op = { .u.numa_policy.u.usage.nr_nodes = MOST_NODES };
	struct node_usage usage[MOST_NODES];

	set_xen_guest_handle(op.u.numa_policy.u.usage.counts, usage[0].pages);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_USAGE, domid);
}

static long rebalance_once(uint32_t flags)
{
	struct xen_domctl op = { 0 };
	struct xen_domctl_numa_policy_rebalance *step = &op.u.numa_policy.u.rebalance;
	long error = 0;

	while (!error && step->gfn != XEN_NUMA_USAGE_END) {
		step->nr = UINT32_MAX;
		step->flags = flags;
		error = try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid);
	}
	return error;
}

/* Until it fails, which it does when the domain dies. */
static long put_together_and_divide(void)
{
	long error;

	do {
		error = try_set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0) ?: rebalance_once(XEN_NUMA_REBALANCE_COMPACT) ?: ask();
		if (!error)
			error = try_set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0) ?: rebalance_once(0);
		steps++;
	} while (!error);
	return error;
}

void program(void)
{
	unsigned long before[NODES], failed = 0, odd = 0;
	long lost[NODES];

	start_second_cpu(destroy_each);
	for (unsigned long i = 0; i <= INTERRUPTED; i++) {
		long error;

		create();
		steps = 0;
		round = i + 1;
		error = put_together_and_divide();
		odd += error != -ESRCH;
		while (destroyed < i + 1)
			pause_cpu();
		failed += result != 0;
		/* what Xen takes once, and keeps */
		if (!i)
			await_rest(before, NODES);
	}
	note("another error than that it dies", odd);
	promise("who acts on it is told that it dies", !odd);
	promise("each can be destroyed", !failed);
	await_free(before, lost, NODES, XMALLOC_KEEPS);
	note("pages less on node 0", lost[0]);
	note("pages less on node 1", lost[1]);
	promise("each node has the free memory that it had", lost[0] <= XMALLOC_KEEPS && lost[1] <= XMALLOC_KEEPS);
}
