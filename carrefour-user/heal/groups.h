/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that are near each other, as those of one socket under AMD's NPS and Intel's SNC, are a group: to move memory between
 * them brings next to nothing. All of heal/ reckons in groups.
 */
#ifndef HEAL_GROUPS_H
#define HEAL_GROUPS_H

#include "heal/heal.h"

struct heal_groups {
	unsigned int nr;
	uint64_t nodes[NODES_MAX];	/* of each */
	uint8_t of[NODES_MAX];		/* each node's */
	double cpus[NODES_MAX], cores[NODES_MAX];
	uint64_t bytes[NODES_MAX], free[NODES_MAX];	/* less what is to stay free */
	uint64_t crowded_ns[NODES_MAX];	/* of the node that has been so for longest */
	uint64_t with_cpus;		/* a bit for each group that has any */
};

struct heal_groups heal_groups_of(const struct heal_host *host, const struct heal_rules *rules);

/* Groups of nodes, as bits; and nodes of groups. */
uint64_t heal_groups_with(const struct heal_groups *groups, uint64_t nodes);
uint64_t heal_nodes_of(const struct heal_groups *groups, uint64_t which);

#endif
