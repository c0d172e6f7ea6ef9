// SPDX-License-Identifier: GPL-2.0-or-later
/* 4 MiB of which the second half finds no table: all of an extent is populated or nothing, although tables lack to undo it, too. */
#include "bare.h"

#define BOUNDARY PAGES_1G
#define ORDER_4M (ORDER_2M + 1)

static unsigned long mapped(domid_t domid)
{
	struct node_usage usage[MOST_NODES];
	unsigned long pages = 0;

	get_usage(domid, usage);
	for (int node = 0; node < MOST_NODES; node++)
		pages += usage[node].pages[XEN_NUMA_USAGE_4K] + (usage[node].pages[XEN_NUMA_USAGE_2M] << ORDER_2M);
	return pages;
}

void program(void)
{
	domid_t domid = new_domain(256, 1);
	unsigned long had, had_mapped, more;
	long extents;

	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 0x3, NULL, 0);
	/* there is a table for the first half */
	if (populate(domid, BOUNDARY - 4 * PAGES_2M, ORDER_2M, ANY_NODE) != 1)
		crash("there is no memory");
	note("tables that there were", use_up_tables(domid, 2 * PAGES_1G));

	had = total_pages(domid);
	had_mapped = mapped(domid);
	extents = populate(domid, BOUNDARY - PAGES_2M, ORDER_4M, ANY_NODE);
	more = extents == 1 ? 1UL << ORDER_4M : 0;
	note("extents", extents);
	note("pages more", total_pages(domid) - had);
	note("pages more that are mapped", mapped(domid) - had_mapped);
	promise("the domain has all of the extent or nothing", total_pages(domid) - had == more);
	promise("all of the extent is mapped or nothing", mapped(domid) - had_mapped == more);
}
