/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What does not exist yet: Xen reads and clears accessed bits of the entries above small pages, one of 2 MiB, and whoever
 * decides says of which 2 MiB hint faults are wanted. docs/auto.md has the interface.
 */
#ifndef SIMULATE_WHERE_H
#define SIMULATE_WHERE_H

#include <stdint.h>

struct memory;
struct where;

/* NULL: out of memory. */
struct where *where_new(const struct memory *memory, unsigned int scan_ms);
void where_free(struct where *where);
/* Scans that are due; what they cost, in ns. */
double where_scan(struct where *where, const struct memory *memory, const double *rate, uint64_t from_ns, uint64_t to_ns,
		  uint64_t *chance);
/* A gfn to mark. */
uint64_t where_pick(struct where *where, uint64_t *chance);
uint64_t where_bytes(const struct where *where);

#endif
