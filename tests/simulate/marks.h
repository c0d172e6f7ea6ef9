/* SPDX-License-Identifier: GPL-2.0-only */
/* Which entries Xen marks, and how many: the series' own sample-regions.c and sample-budget.c. */
#ifndef SIMULATE_MARKS_H
#define SIMULATE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct marks;

/* As XEN_DOMCTL_numa_policy's sampling is asked for; NULL: out of memory. */
struct marks *marks_new(unsigned int entries, unsigned int period_ms, unsigned int permille, unsigned int vcpus, uint64_t gfns,
			uint64_t seed);
void marks_free(struct marks *marks);

/* A period begins: vCPUs have run, time was spent and entries marked since the last one. How many there may be. */
unsigned int marks_begin(struct marks *marks, uint64_t ran_ns, uint64_t spent_ns, uint64_t marked);
uint64_t marks_length_ns(const struct marks *marks);

uint64_t marks_pick(struct marks *marks, unsigned int *region);
void marks_hit(struct marks *marks, unsigned int region, bool hit);
void marks_adapt(struct marks *marks, uint64_t gfns);

#endif
