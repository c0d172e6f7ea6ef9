// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a page stays: a full node, a pool without page tables, and a claim are told apart; some of the pool is left for others. */
#include <stdint.h>

#include "bare.h"

#define POOL 256UL		/* pages that a new domain has for its tables */
#define KEPT (POOL / 8)
#define USED 170UL		/* of these, beforehand */
#define SUPERPAGES 60UL
#define FAR (8 * PAGES_1G)
#define SLACK 256UL		/* pages that Xen may use meanwhile */

static void try_without_tables(void)
{
	domid_t domid = new_domain(512, 1);
	struct xen_domctl_numa_policy_stats stats;
	unsigned long left;

	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	for (unsigned long i = 0; i < SUPERPAGES; i++)
		if (populate(domid, PAGES_2M * i, ORDER_2M, 0) != 1)
			crash("there is no memory");
	for (unsigned long i = 0; i < USED; i++)
		if (populate(domid, FAR + PAGES_2M * i, 0, 0) != 1)
			crash("there is no memory for a page");
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
	rebalance(domid);
	get_stats(domid, &stats);
	note("pages without a table", stats.pages[XEN_NUMA_MOVE_NO_TABLE]);
	promise("some are divided", stats.pages[XEN_NUMA_MOVE_DONE] >= PAGES_2M);
	promise("others stay, and the node is not said to be full",
		stats.pages[XEN_NUMA_MOVE_NO_TABLE] && !stats.pages[XEN_NUMA_MOVE_NO_ROOM] && !stats.pages[XEN_NUMA_MOVE_CLAIMED]);
	promise("2 MiB can move", move_extent(domid, PAGES_2M * (SUPERPAGES - 1), ORDER_2M, 1) == XEN_NUMA_MOVE_DONE);
	promise("a part of it cannot", move_page(domid, PAGES_2M * (SUPERPAGES - 1), 0) == XEN_NUMA_MOVE_NO_TABLE);
	left = use_up_tables(domid, 2 * FAR);
	note("tables left", left);
	/* it takes two at a time; some are of a higher level */
	promise("some tables are left for others", 2 * left >= KEPT - 4 && 2 * left <= KEPT + 4);
	destroy_domain(domid);
}

static void try_with_claims(void)
{
	domid_t domid = new_domain(64, 1), other = new_domain(512, 1);
	unsigned long claim = free_pages(0, 0) + free_pages(1, 0) - SLACK;

	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	if (populate(domid, 0, ORDER_2M, 0) != 1)
		crash("there are no 2 MiB");
	/* What Xen allocates to move it is there from now on. */
	promise("2 MiB move before", move_extent(domid, 0, ORDER_2M, 1) == XEN_NUMA_MOVE_DONE);
	claim -= PAGES_2M;
	set_max_pages(other, claim);
	promise("memory can be claimed", !claim_pages(other, claim));
	promise("what is claimed is told", move_extent(domid, 0, ORDER_2M, 0) == XEN_NUMA_MOVE_CLAIMED);
	promise("and it stays", node_of_page(domid, 0) == 1);
	promise("a page finds room", move_page(domid, 0, 0) == XEN_NUMA_MOVE_DONE);
	promise("a claim can end", !claim_pages(other, 0));
	promise("2 MiB move afterwards", move_extent(domid, 0, ORDER_2M, 0) == XEN_NUMA_MOVE_DONE);
	destroy_domain(other);
	destroy_domain(domid);
}

static void try_full_node(void)
{
	domid_t domid = new_domain(64, 1), filler = new_domain(512, 1);
	unsigned long gfn = 0;

	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	set_policy(filler, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	if (populate(domid, 0, ORDER_2M, 0) != 1)
		crash("there are no 2 MiB");
	while (populate(filler, gfn, ORDER_2M, 1) == 1)
		gfn += PAGES_2M;
	promise("2 MiB find no room", move_extent(domid, 0, ORDER_2M, 1) == XEN_NUMA_MOVE_NO_ROOM);
	destroy_domain(filler);
	destroy_domain(domid);
}

void program(void)
{
	try_without_tables();
	try_with_claims();
	try_full_node();
}
