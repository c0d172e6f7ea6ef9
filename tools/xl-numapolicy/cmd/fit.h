/* SPDX-License-Identifier: GPL-2.0-only */
/* How well the memory of a domain is placed for its vCPUs, by where both are. docs/interfaces.md has the formulas. */
#ifndef FIT_H
#define FIT_H

#include "ask/types.h"
#include "print/fields.h"

/* Bytes of memory on each node, and the vCPUs there. */
struct placement {
	uint64_t memory[NODES_MAX];
	uint32_t vcpus[NODES_MAX];
};

struct fit {
	struct share estimate;	/* of the accesses that are local, of what the best placement could have; 100 % is as good */
	struct share overlap;	/* of the accesses that can be local, if each vCPU uses memory of its own */
	struct share even;	/* ... that are local, if each vCPU uses all of the memory alike */
	struct share imbalance;	/* of memory over the nodes with vCPUs: standard deviation, of the mean */
	uint32_t in_use;	/* nodes with vCPUs, or a hundredth of the memory */
	uint32_t needed;	/* the fewest nodes of this host that would hold it, were they empty */
};

/* False: it has no memory or no vCPUs, and nothing is known. */
bool fit_of(struct fit *fit, const struct placement *placement, const struct nodes *nodes);

/* The estimate alone: 0 to 1000. */
unsigned int fit_permille(const struct placement *placement, const struct nodes *nodes);

#endif
