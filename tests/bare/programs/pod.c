// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that begins with half of its memory: what is populated on demand comes from the node that the policy wants, by pages and by
 * 2 MiB, whichever nodes its vCPU runs on; it is zero, and what is zero again can be had for another gfn.
 */
#include "bare.h"
#include "hypercall.h"

#include "pod.h"

GUEST_IMAGE(image, "pod.guest");

#define NODES 2
#define MIB 32
#define XMALLOC_KEEPS 16		/* pages, for the next time */

static const struct {
	uint32_t policy;
	unsigned long nodes;
	unsigned int grain;
} policies[] = { { XEN_NUMA_POLICY_ROUND_4K, 0x3, 0 }, { XEN_NUMA_POLICY_ROUND_2M, 0x3, ORDER_2M }, { XEN_NUMA_POLICY_ROUND_2M, 0x2, ORDER_2M } };

/* Of all guests. */
static long not_zero, wrong_words, pages_more, came_to_end, destroyed, elsewhere, told_wrong;

static bool has_series(domid_t domid)
{
	struct xen_domctl op = { 0 };

	return !try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_GET, domid);
}

/* Pages of the half that was used that are elsewhere than the policy wants. */
static unsigned long misplaced(domid_t domid, unsigned int i)
{
	unsigned long wrong = 0;

	for (unsigned long gfn = POD_GFN; gfn < POD_GFN + POD_TARGET; gfn++) {
		unsigned int wanted = policies[i].nodes == 0x3 ? gfn >> policies[i].grain & 1 : 1;

		wrong += node_of_page(domid, gfn) != wanted;
	}
	return wrong;
}

static void one(unsigned int i)
{
	domid_t domid = new_domain(MIB, 1);
	struct mailbox *mailbox;
	bool ours = has_series(domid);
	unsigned long had;

	/* What is not placed comes from there. */
	set_affinity(domid, 0x1);
	if (ours)
		set_policy(domid, policies[i].policy, policies[i].nodes, NULL, 0);
	begin_on_demand(domid, POD_GFN, POD_BLOCKS, POD_TARGET);
	load_guest(domid, image, image_end);
	had = total_pages(domid);
	mailbox = start_guest_program(domid, 1);
	if (ours)
		elsewhere += misplaced(domid, i);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	came_to_end += wait_guest(domid, GUEST_ENDED);
	not_zero += mailbox->values[NOT_ZERO];
	wrong_words += mailbox->values[WRONG_WORDS];
	pages_more += had != total_pages(domid);
	if (ours)
		told_wrong += !usage_is_located(domid, POD_GFN + POD_PAGES);
	unmap_page(MAILBOX_WINDOW);
	destroyed += !destroy_domain(domid);
}

void program(void)
{
	unsigned long before[NODES];
	long lost[NODES];

	for (unsigned int node = 0; node < NODES; node++)
		before[node] = free_pages(node, 0);
	for (unsigned int i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		one(i);
	outcome("guests that have used more gfns than they have pages", came_to_end);
	outcome("pages that were not zero", not_zero);
	outcome("words that were wrong", wrong_words);
	outcome("guests with more pages than before, or less", pages_more);
	outcome("guests that were destroyed", destroyed);
	note("pages that are not on the node that the policy wants", elsewhere);
	promise("each page is on the node that the policy wants", !elsewhere);
	promise("nodes are told as they are", !told_wrong);
	await_free(before, lost, NODES, XMALLOC_KEEPS);
	outcome("each node has the free memory that it had", lost[0] <= XMALLOC_KEEPS && lost[1] <= XMALLOC_KEEPS);
}
