/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a host's state is worth, in CPUs' worth of time: what its VMs gain by local accesses, less what is lost where there is
 * more work than cores. A model: it knows loads and places, and no accesses.
 */
#ifndef HEAL_WORTH_H
#define HEAL_WORTH_H

#include "heal/groups.h"

/* Where a VM is, in groups. */
struct heal_place {
	uint64_t home;			/* that its vCPUs prefer */
	uint64_t bytes[NODES_MAX];
	uint64_t all;			/* bytes, together */
};

struct heal_state {
	const struct heal_host *host;
	const struct heal_rules *rules;
	struct heal_groups groups;
	struct heal_place *place;	/* of each VM */
	double work[NODES_MAX];		/* that VMs want to do in each group, in CPUs */
};

/* False: out of memory. */
bool heal_state_begin(struct heal_state *state, const struct heal_host *host, const struct heal_rules *rules);
void heal_state_end(struct heal_state *state);

struct heal_place heal_place_of(const struct heal_groups *groups, const struct heal_vm *vm);
/* Another place for a VM; groups' free memory changes with it. */
void heal_state_put(struct heal_state *state, unsigned int vm, const struct heal_place *place);

/* Where the work of each group is done: soft affinity is a wish, and what finds all CPUs busy goes elsewhere. */
struct heal_flow {
	double stays[NODES_MAX];	/* part of a group's work */
	double goes[NODES_MAX];		/* part of all other work */
	double lost;			/* to sibling threads, and to waiting */
};

struct heal_flow heal_flow_of(const struct heal_state *state);
/* Part of a VM's accesses that is local. */
double heal_local(const struct heal_state *state, const struct heal_flow *flow, unsigned int vm);
double heal_worth(const struct heal_state *state, const struct heal_flow *flow);

#endif
