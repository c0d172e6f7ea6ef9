/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From counts to time: what accesses cost when they meet at controllers and links.
 *
 * An epoch's counts are given; its duration is what the slowest CPU takes, its latencies depend on how busy controllers and
 * links are, and that depends on the duration.  README.md has the formulas.
 */
#ifndef NUMASIM_MODEL_H
#define NUMASIM_MODEL_H

#include "machine.h"
#include "sim.h"

/* What a CPU did, of all modes. */
struct work {
	double instructions, l2_hits, l3_hits;
	double tlb_hits;		/* in the second level */
	double misses[MAX_NODES], write_backs[MAX_NODES];
};

struct use {
	double bytes, time, max;	/* `time` is the sum of use x duration */
};

struct cpu_time {
	double uncontended, contended;	/* cycles of memory */
	double instructions;
};

/* Everything about a region, one epoch added to the other. */
struct totals {
	unsigned int epochs;
	double duration;		/* cycles */
	double busiest_link;		/* use x duration of the busiest link of each epoch */
	struct use node[MAX_NODES], link[MAX_LINKS];
	struct cpu_time cpu[MAX_CPUS];
};

struct model {
	const struct machine *machine;
	double queue[CLASSES];		/* k_h: cycles that a controller's queue adds, by class of latency, in units of rho / (1 - rho) */
};

/* Returns NULL, or why the machine's latencies under load cannot come from its bandwidths, to be freed with g_free(). */
char *model_init(struct model *model, const struct machine *machine);

/* Memory cycles of a CPU's work if nothing else happened. */
double model_uncontended(const struct model *model, unsigned int cpu, const struct work *work);

/* Adds an epoch; `work` has an element a CPU, zero for those that are not watched. */
void model_epoch(const struct model *model, const struct work *work, struct totals *totals);

#endif
