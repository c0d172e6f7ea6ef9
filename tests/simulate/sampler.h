/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hint faults as Xen takes them: each period some entries are marked, where and how many by Xen's own code. Who accesses one
 * first within the period is a sample. Accesses to a page come at random moments, at the rate of its area.
 */
#ifndef SIMULATE_SAMPLER_H
#define SIMULATE_SAMPLER_H

#include "decide/sample.h"
#include "memory.h"

struct marks;
struct where;

/* What Xen is asked for. */
struct sampling {
	unsigned int entries, period_ms, permille;
};

struct sampler {
	struct sampling asked;
	struct memory *memory;
	struct marks *marks;
	struct where *where;	/* NULL: Xen's regions say where to look */
	uint64_t chance;
	uint64_t next_ns;	/* period of Xen's */
	uint64_t run_ns, spent_ns, marked;	/* since the last one */
	uint64_t *slot;		/* of what is marked: a hash of 1 + gfn, with the period above */
	uint64_t period;
	/* Of the call. */
	struct sample *sample;
	unsigned int nr, room;
	uint64_t all_marked, faults;
	double lost_ns;		/* by the guest's vCPUs, all together */
};

/* False: out of memory. */
bool sampler_begin(struct sampler *s, struct memory *memory, const struct sampling *asked, struct where *where, uint64_t seed);
void sampler_end(struct sampler *s);
/* From one moment to the next, while there are so many misses a second. False: out of memory. */
bool sampler_run(struct sampler *s, uint64_t from_ns, uint64_t to_ns, double misses_a_second);

#endif
