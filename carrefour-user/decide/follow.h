/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is there goes to where the policy wants it that auto has set: in each period what the budgets of the VM and of
 * the host have left when all decisions are made, so that no decision depends on it. Pure, as decide.h is.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/host.h"

struct follow {
	bool on;
	uint64_t gfn;		/* what is below it has followed */
	uint64_t moved, stays;	/* pages; the latter are in use, or not movable, or had no room */
	uint64_t nodes;		/* that had memory to spare when it began */
	uint64_t to;		/* home nodes of those, as of this period */
	uint64_t left;		/* bytes that may still move in this period */
	unsigned int step;	/* pages of a call; 0: as many as there may be */
};

/*
 * A period begins, after its decisions. False: it has taken all that a home node can spare, and is to end; a node
 * that had nothing to spare before is where memory comes from, and Xen refuses what does not fit there.
 */
bool follow_period(struct follow *follow, const struct host *host, const struct config *config, uint64_t home);

/* Pages that may move next; 0: no more in this period. */
unsigned int follow_step(const struct follow *follow);
/* A call for so many pages took so long: the next one takes @aim at most, if it is like this one. */
void follow_pace(struct follow *follow, unsigned int pages, uint64_t ns, uint64_t aim);
void follow_took(struct follow *follow, struct host *host, uint64_t moved, uint64_t stays);

#endif
