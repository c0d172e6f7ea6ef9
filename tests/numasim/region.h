/* One region of interest: counters, cut into epochs, each of which becomes time. */
#ifndef NUMASIM_REGION_H
#define NUMASIM_REGION_H

#include <stdio.h>

#include "model.h"
#include "sim.h"

/* Instructions of a CPU since the region began; any thread may ask. */
typedef uint64_t (*instructions_fn)(unsigned int cpu, enum mode mode);

struct region {
	struct sim *sim;
	const struct model *model;
	instructions_fn instructions;
	bool closing;				/* one thread at a time closes epochs, the others go on */
	struct counts closed[MAX_CPUS];		/* what is in closed epochs */
	uint64_t closed_instructions[MAX_CPUS];
	struct totals totals;
};

/* Starts all over; `instructions` must count from zero from now on.  No access may be under way. */
void region_begin(struct region *region);
/* Closes an epoch; does nothing if another thread is at it. */
void region_epoch(struct region *region);
/* Closes the last epoch and prints everything as one line.  No access may be under way. */
void region_end(struct region *region, unsigned int id, FILE *to);

#endif
