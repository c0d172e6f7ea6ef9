// SPDX-License-Identifier: GPL-2.0-or-later
/* An extent of two pages where no p2m reaches: it is refused, and all goes on. */
#include "bare.h"

#define BEYOND (1UL << 36)

void program(void)
{
	domid_t domid = new_domain(64, 1);
	unsigned long before;

	outcome("a page beyond the p2m", populate(domid, BEYOND + 1, 0, ANY_NODE));
	before = total_pages(domid);
	outcome("two pages beyond the p2m", populate(domid, BEYOND + 1, 1, ANY_NODE));
	promise("nothing of it stays with the domain", total_pages(domid) == before);
	outcome("two pages within", populate(domid, 1, 1, ANY_NODE));
	outcome("destroyed", destroy_domain(domid));
}
