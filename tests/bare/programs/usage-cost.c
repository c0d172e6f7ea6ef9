// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests/bench/usage_cost: two domains, of small pages and of different size; regions of interest are to populate each, and then to
 * ask where its memory is.
 */
#include "bare.h"

#define SMALL 8UL		/* times 2 MiB */
#define LARGE (8 * SMALL)

/* nopl DISP(%rax), of tests/bench/programs/marker.h */
#define MARK(region, is_end) __asm__ volatile("nopl %c0(%%rax)" : : "i"(0x584e0000 | (region) << 1 | (is_end)) : "memory")

static void populate_all(domid_t domid, unsigned long superpages)
{
	for (unsigned long i = 0; i < superpages; i++)
		if (populate(domid, PAGES_2M * i, ORDER_2M, ANY_NODE) != 1)
			crash("there is no memory");
}

static void check(const struct node_usage usage[MOST_NODES], unsigned long superpages)
{
	unsigned long pages = 0;

	for (int node = 0; node < MOST_NODES; node++)
		pages += usage[node].pages[XEN_NUMA_USAGE_4K];
	promise(superpages == SMALL ? "the small one is told" : "the large one is told", pages == superpages * PAGES_2M);
}

void program(void)
{
	domid_t small = new_domain(64, 1), large = new_domain(192, 1);
	struct node_usage usage[MOST_NODES];

	/* what happens once */
	get_usage(small, usage);
	MARK(0, 0);
	populate_all(small, SMALL);
	MARK(0, 1);
	MARK(1, 0);
	populate_all(large, LARGE);
	MARK(1, 1);
	MARK(2, 0);
	get_usage(small, usage);
	MARK(2, 1);
	check(usage, SMALL);
	MARK(3, 0);
	get_usage(large, usage);
	MARK(3, 1);
	check(usage, LARGE);
}
