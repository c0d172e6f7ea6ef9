// SPDX-License-Identifier: GPL-2.0-or-later
/* An extent of two pages for which there is no table left: it is refused, and all goes on. */
#include "bare.h"

#define ELSEWHERE (1000 * PAGES_1G)

void program(void)
{
	domid_t domid = new_domain(64, 1);
	unsigned long before;

	note("tables that there were", use_up_tables(domid, 0));
	before = total_pages(domid);
	outcome("two pages without a table", populate(domid, ELSEWHERE + PAGES_2M / 2 + 1, 1, ANY_NODE));
	promise("nothing of it stays with the domain", total_pages(domid) == before);
	outcome("two pages where there is a table", populate(domid, 1, 1, ANY_NODE));
	outcome("destroyed", destroy_domain(domid));
}
