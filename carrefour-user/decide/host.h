/* SPDX-License-Identifier: GPL-2.0-only */
/* What the domains of a host share: room on nodes, and how much may move in a period. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "common/units.h"
#include "decide/nodes.h"

struct host {
	unsigned int nr_nodes;
	const struct topology *topology;	/* NULL: a flat one */
	uint64_t room[NODES_MAX];	/* bytes that may still go to each node in this period */
	uint64_t bytes_left;		/* that may still move */
	unsigned int moves_left;
	unsigned int hungry_left;	/* domains that are still to come in this period and were hungry in the last */
	unsigned int hungry_next;
	int64_t accesses_per_us;	/* of memory, by all domains; -1: the source cannot tell */
};

struct budget {
	uint64_t bytes;
	unsigned int moves;
};

/*
 * nr_nodes and topology stay as they are for the life of the host; the latter is the caller's. free[]: bytes of each node that
 * are free now.
 */
void host_next_period(struct host *host, const struct config *config, const uint64_t *free, int64_t accesses_per_us);

/* What a domain may take; hungry: it moved or wanted to move in the last period. */
struct budget host_share(const struct host *host, const struct config *config, bool hungry);
void host_took(struct host *host, struct budget took, bool was_hungry, bool is_hungry);

/*
 * Which of @nr domains is the @i-th to decide in @period: all are first in turn, as the last
 * one has the most to take from.
 */
unsigned int host_turn(uint64_t period, unsigned int i, unsigned int nr);

#endif
