/* SPDX-License-Identifier: GPL-2.0-only */
/* What Xen has counted of a domain since its sampling began. Plain: no Xen, no clock. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

#include "common/units.h"

struct counters {
	uint64_t faults, marked, dropped;
	uint64_t ns, guest_ns;		/* spent by Xen on sampling; for which the vCPUs ran */
	uint64_t periods, throttled;	/* of Xen's; those with fewer entries, to keep the budget */
	uint64_t *matrix;		/* samples[accessing node * nr_nodes + node of the page]; its room is the owner's */
};

/*
 * *now becomes what came since *seen, and *seen what *now was. Sampling that began anew in between, as others may
 * stop and start it, counts from zero: then all of *now came since.
 */
void counters_take(struct counters *seen, struct counters *now, unsigned int nr_nodes);

/* All zero, but for the room of the matrix. */
void counters_clear(struct counters *counters, unsigned int nr_nodes);

#endif
