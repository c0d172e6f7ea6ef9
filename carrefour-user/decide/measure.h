/* SPDX-License-Identifier: GPL-2.0-only */
/* What a period's counters say of a domain as a whole. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

#include "common/units.h"
#include "decide/nodes.h"

struct measure {
	uint64_t samples;
	unsigned int local;		/* of 1000 samples, those whose page was as near to the CPU as it can be: nodes_local() */
	unsigned int imbalance;		/* relative standard deviation between home nodes that have CPUs, in 1/1000 */
	unsigned int own_imbalance;	/* ... were each access one to the home node that its CPU's node wants */
	unsigned int detour;		/* how much farther the mean access is than to the home node that its CPU's node wants, in 1/1000 */
	unsigned int spread;		/* ... were all memory interleaved over the home nodes that have CPUs */
	uint8_t pair_from, pair_to;	/* the two nodes with the most traffic between them ... */
	unsigned int pair;		/* ... and its share, of 1000 samples */
	double load[NODES_MAX];		/* the share of each node's memory in all samples */
};

/* matrix[accessing node * nodes->nr + node of the page] */
struct measure measure(const uint64_t *matrix, const struct nodes *nodes);

#endif
