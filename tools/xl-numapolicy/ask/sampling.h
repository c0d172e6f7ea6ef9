/* SPDX-License-Identifier: GPL-2.0-only */
/* Access sampling by this program, of one domain at a time. Xen ends it, too, if this program ends without a word. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "ask/types.h"

/* The longest time between two readings: Xen goes on for 10 s without one, and nobody else can begin meanwhile. */
#define SAMPLING_GAP_NS 5000000000ULL

/* Accesses that were sampled since the beginning: by the node of the CPU, then by that of the page. */
struct accesses {
	uint64_t count[NODES_MAX][NODES_MAX];
};

enum sampling_state { SAMPLING_RUNS, SAMPLING_ENDED, SAMPLING_UNFIT };

/* RESULT_BUSY: somebody samples it. On errors nothing is left. */
enum result sampling_begin(uint32_t domid);
/* Takes what is in the ring out of it. RESULT_NO_DOMAIN: it is gone, and with it all. */
enum result sampling_read(struct accesses *accesses, enum sampling_state *state);
/* Nothing is left of it. Without effect if nothing was begun, or it was given up. */
void sampling_end(void);
/* What Xen has ended, and somebody else may have begun again: leaves it alone. */
void sampling_give_up(void);

#endif
