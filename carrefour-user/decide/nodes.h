/* SPDX-License-Identifier: GPL-2.0-only */
/* What the nodes of a host are to each other, and to a domain with its home nodes. */
#ifndef NODES_H
#define NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/units.h"

/* A host's, as ACPI's SLIT and SRAT tell it. */
struct topology {
	uint64_t cpus;					/* a bit for each node that has CPUs */
	uint8_t distance[NODES_MAX][NODES_MAX];		/* [from a CPU's node][to memory]; DISTANCE_OWN is the least */
};

/* All nodes have CPUs, and all others are as far. */
struct topology topology_flat(void);
/* Whether it says no more than that of @nr nodes. */
bool topology_is_flat(const struct topology *topology, unsigned int nr);

/*
 * A domain's: memory that is as near to a node as any of its home nodes is local to it, as it cannot be nearer. So each node
 * has a home node that it wants its memory on: itself, or the nearest; of several that are as near one, for nodes one after
 * another not the same.
 */
struct nodes {
	unsigned int nr;
	const struct topology *topology;
	uint64_t home;
	uint64_t with_cpus;		/* the home nodes that have CPUs; if none has, all of them */
	uint8_t wanted[NODES_MAX];
};

/* topology is the caller's, and outlives it; NULL is a flat one. Without home nodes every node is its own. */
struct nodes nodes_of(const struct topology *topology, unsigned int nr, uint64_t home);
unsigned int nodes_distance(const struct nodes *nodes, unsigned int from, unsigned int to);
/* Whether memory on @on is as near to @from as it can be. */
bool nodes_local(const struct nodes *nodes, unsigned int from, unsigned int on);

#endif
