// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who asks for no policy has none: the memory is where stock Xen puts it.  `asked`: unless numa-policy=round-4k gives one to all.
 *
 * Stock puts 2 MiB on one node.
 */
#include "bare.h"

#define SUPERPAGES 3UL

void program(void)
{
	domid_t domid = new_domain(64, 1);
	unsigned long had[2] = { free_pages(0, 0), free_pages(1, 0) };
	struct node_usage usage[MOST_NODES];

	for (unsigned long i = 0; i < SUPERPAGES; i++)
		if (populate(domid, PAGES_2M * i, ORDER_2M, ANY_NODE) != 1)
			crash("there is no memory");
	if (argument("asked")) {
		get_usage(domid, usage);
		for (int node = 0; node < 2; node++)
			note(node ? "small pages on node 1" : "small pages on node 0", usage[node].pages[XEN_NUMA_USAGE_4K]);
		promise("all have the policy that was asked for",
			usage[0].pages[XEN_NUMA_USAGE_4K] == SUPERPAGES * PAGES_2M / 2 &&
			usage[1].pages[XEN_NUMA_USAGE_4K] == SUPERPAGES * PAGES_2M / 2);
		return;
	}
	outcome("pages taken from node 0", had[0] - free_pages(0, 0));
	outcome("pages taken from node 1", had[1] - free_pages(1, 0));
}
