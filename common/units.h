/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes, distances, and what Xen bounds. */
#ifndef COMMON_UNITS_H
#define COMMON_UNITS_H

#define NODES_MAX 64	/* upper end of Xen's CONFIG_NR_NUMA_NODES */
#define ORDER_4K 0
#define ORDER_2M 9
#define ORDER_1G 18
#define PAGE_SHIFT 12
#define PAGE_BYTES (1ULL << PAGE_SHIFT)
#define MIB (1ULL << 20)
#define MS 1000000ULL	/* ns */
/* As ACPI has them; the latter where no table says. */
#define DISTANCE_OWN 10
#define DISTANCE_OTHER 20

#endif
