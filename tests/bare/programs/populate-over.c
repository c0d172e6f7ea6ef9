// SPDX-License-Identifier: GPL-2.0-or-later
/* Populating over pages that were never touched: the domain has a page for each gfn then, and none that no touch can reach. */
#include "bare.h"

#define AT (4 * PAGES_2M)

void program(void)
{
	domid_t domid = new_domain(256, 1);
	unsigned long had;

	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 0x3, NULL, 0);
	had = total_pages(domid);
	if (populate(domid, AT, ORDER_2M, ANY_NODE) != 1 || total_pages(domid) != had + PAGES_2M)
		crash("there is no memory");

	if (populate(domid, AT + 7, 0, ANY_NODE) != 1)
		crash("there is no page");
	promise("a page that is populated takes the place of the one that waits", total_pages(domid) == had + PAGES_2M);
	if (populate(domid, AT, ORDER_2M, ANY_NODE) != 1)
		crash("there are no other 2 MiB");
	note("pages", total_pages(domid) - had);
	/* the one that was mapped stays with the domain, as ever */
	promise("so do 2 MiB", total_pages(domid) == had + PAGES_2M + 1);
	promise("it can be destroyed", !destroy_domain(domid));
}
