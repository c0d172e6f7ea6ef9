/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes, and what Xen bounds. */
#ifndef UNITS_H
#define UNITS_H

#define NODES_MAX 64	/* Xen's MAX_NUMNODES */
#define ORDER_4K 0
#define ORDER_2M 9
#define ORDER_1G 18
#define PAGE_SHIFT 12
#define MIB (1ULL << 20)
#define MS 1000000ULL	/* ns */

#endif
