/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs that allocate, free, split, merge and steal while Xen is told. */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include "guest.h"

struct run {
	unsigned int ops;	/* of each CPU */
	unsigned int threshold;	/* pages that are worth a call */
	bool disturbed;		/* hooks go on and off, Xen fails, pages are stolen */
	bool lazy;		/* the worker is late, and queues get full */
};

/* Dies, with the seed, when a page in use is lost or an event is. */
struct peq_stats interleave(const struct run *r);

/* Runs of a test: ROUNDS=, else one with SEED=, else 100; the seed of each. */
unsigned int rounds(void);
void start_round(unsigned int n);

#endif /* INTERLEAVE_H */
