// SPDX-License-Identifier: GPL-2.0-or-later
/* When superpages are divided over nodes, what comes free is superpages again, not every second page of them. */
#include "bare.h"

#define SUPERPAGES 40UL

/* That node 0 has. */
static unsigned long superpages(void)
{
	domid_t domid = new_domain(512, 1);
	unsigned long count = 0;

	while (populate(domid, PAGES_2M * count, ORDER_2M, 0) == 1)
		count++;
	destroy_domain(domid);
	return count;
}

void program(void)
{
	domid_t domid = new_domain(256, 1);
	unsigned long before, after, would, moved;

	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 1 << 0, NULL, 0);
	for (unsigned long i = 0; i < SUPERPAGES; i++)
		if (populate(domid, PAGES_2M * i, ORDER_2M, ANY_NODE) != 1)
			crash("there is no memory");
	before = superpages();
	if (!before)
		crash("node 0 is full already");
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 1 << 0 | 1 << 1, NULL, 0);
	would = would_rebalance(domid);
	moved = rebalance(domid);
	note("pages moved", moved);
	promise("a dry run says what moves", moved == would);
	promise("once", !would_rebalance(domid) && !rebalance(domid));
	after = superpages();
	note("superpages before", before);
	note("superpages after", after);
	/* half of them are to be had; a few may lie badly */
	promise("superpages come free", after >= before + SUPERPAGES / 4);
}
