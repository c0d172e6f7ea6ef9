/* SPDX-License-Identifier: GPL-2.0-only */
/* One region of interest: counters, looked at again and again while they grow, and what becomes of them at the end. */
#ifndef NUMASIM_REGION_H
#define NUMASIM_REGION_H

#include <stdio.h>

#include "epochs.h"
#include "model.h"
#include "sim.h"

/* Instructions of a CPU since the region began; any thread may ask. */
typedef uint64_t (*instructions_fn)(unsigned int cpu, enum mode mode);

struct region {
	struct sim *sim;
	const struct model *model;
	instructions_fn instructions;
	bool looking;				/* one thread at a time looks, the others go on */
	struct counts seen[MAX_CPUS];		/* what is in windows */
	uint64_t seen_instructions[MAX_CPUS];
	struct windows windows;
	struct totals totals;			/* after the end */
};

void region_init(struct region *region, struct sim *sim, const struct model *model, instructions_fn instructions);
void region_free(struct region *region);
/* Starts all over; `instructions` must count from zero from now on.  No access may be under way. */
void region_begin(struct region *region);
/* Adds what CPUs did since the last look as a window; does nothing if another thread is at it. */
void region_look(struct region *region);
/* What translation took of a CPU's uncontended memory cycles. */
double region_walk_cycles(const struct region *region, unsigned int cpu);
/* Prints everything as one line.  No access may be under way. */
void region_end(struct region *region, unsigned int id, FILE *to);

#endif
