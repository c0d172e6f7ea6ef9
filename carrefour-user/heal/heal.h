/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heals a host: which VMs' vCPUs and memory would better be on other nodes, what that costs, and what it brings. Pure: the whole
 * host goes in, actions come out, and the same host gives the same actions.
 *
 * It acts on VMs that run away from their memory and on nodes with more work than cores, not on a timer; what is not paid back
 * soon, stays. Nodes that are near each other count as one (groups.h).
 */
#ifndef HEAL_H
#define HEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/units.h"
#include "decide/nodes.h"

struct heal_node {
	uint64_t bytes, free;
	unsigned int cpus, cores;	/* more of the former if CPUs are siblings */
	uint64_t crowded_ns;		/* for which its CPUs have had more work than cores, since it was relieved */
};

struct heal_vm {
	unsigned int id, vcpus;
	double load, usual, peak;	/* CPUs that it kept busy of late, since it has been seen, and at its busiest */
	double strays;			/* part of its time that it ran off its affinity with CPUs idle there; negative: not known */
	uint64_t bytes[NODES_MAX];
	uint64_t affinity;		/* nodes that its vCPUs prefer; 0: any */
	uint64_t age_ns;		/* for which it has been seen */
	uint64_t calm_ns;		/* since its home was changed; UINT64_MAX: it never was */
	bool off, named, unmovable, watched;	/* as enum heal_left has them */
};

struct heal_host {
	unsigned int nr_nodes, nr_vms;
	const struct topology *topology;	/* NULL: a flat one */
	struct heal_node node[NODES_MAX];
	const struct heal_vm *vm;
	uint64_t may_move;		/* bytes that this hour has left: budget.h */
	bool stopped;			/* by the ledger: ledger.h */
	/* Called now and then, as a plan for many VMs takes its time; NULL: nothing is. False: there is to be no plan. */
	bool (*between)(void *with);
	void *with;
};

/* Where a rule's number comes from, rules.c says. */
struct heal_rules {
	unsigned int near_distance;	/* nodes up to it are as one */
	double remote_cost;		/* part of a VM's time that it loses if all of its accesses are remote */
	double sibling_worth;		/* of a core, that the second thread of it brings */
	double full;			/* part of its cores that a target's work may take */
	double least_gain;		/* of the part of accesses that is local, to be worth another home */
	double least_relief;		/* CPUs' worth of time */
	uint64_t crowded_ns;		/* for which a node is to have been so, before it is relieved */
	double strays;			/* part of its time that a VM may run off its affinity */
	double alone;			/* part of cores that others use, below which a VM has them to itself */
	uint64_t gib_ns;		/* CPU time that it takes to move a GiB */
	unsigned int age_part;		/* cost is to be back in this part of the VM's age, and of what is to be ended */
	uint64_t payback_ns;		/* ... and within this */
	uint64_t young_ns, cooldown_ns;
	uint64_t reserve;		/* bytes of each node that stay free */
	unsigned int hour_permille;	/* of the host's memory, that may move in an hour */
	unsigned int actions;		/* at a time */
};

extern const struct heal_rules heal_rules;

enum heal_why {
	HEAL_FOLLOW,		/* vCPUs go to their memory, and none moves */
	HEAL_GATHER,		/* vCPUs and memory come together on fewer nodes */
	HEAL_RELIEVE,		/* a node has more work than cores */
	HEAL_MAKE_ROOM,		/* for the action that is next in the list */
	NR_HEAL_WHYS
};

/* Why nothing is done for a VM; the first that holds. */
enum heal_left {
	LEFT_ACTED,		/* something is */
	LEFT_GOOD,
	LEFT_OFF,		/* its user wants that */
	LEFT_NAMED,		/* its user has named nodes or CPUs */
	LEFT_UNMOVABLE,		/* vNUMA, devices, no p2m of Xen's */
	LEFT_WATCHED,		/* Carrefour or auto looks after it */
	LEFT_STOPPED,		/* the ledger shows losses */
	LEFT_YOUNG,
	LEFT_COOLING,		/* its home was changed lately */
	LEFT_STRAYS,		/* the scheduler does not follow its affinity */
	LEFT_ALONE,		/* nobody else uses its nodes' cores: it has their bandwidth */
	LEFT_NO_GAIN,
	LEFT_NO_ROOM,		/* no nodes are free enough, in memory and in cores */
	LEFT_NOT_PAID,
	LEFT_BUDGET,		/* the hour's is used up */
	LEFT_LATER,		/* others came first */
	NR_HEAL_LEFT
};

struct heal_action {
	unsigned int vm;		/* index */
	enum heal_why why;
	uint64_t home;			/* nodes that it is to prefer, and have its memory on */
	uint64_t bytes;			/* that move there */
	uint64_t cost_ns, pause_ns;	/* CPU time in all; the longest that a vCPU waits for one batch */
	double gain;			/* CPUs' worth of time that it brings, all VMs together */
	double local_before, local_after;	/* part of its accesses */
};

struct heal_plan {
	struct heal_action *action;	/* in the order in which they are to be done */
	unsigned int nr;
	enum heal_left *left;		/* of each VM */
};

/* False: out of memory. If .between wants none, it is not to be carried out. */
bool heal_plan(struct heal_plan *plan, const struct heal_host *host, const struct heal_rules *rules);
void heal_plan_free(struct heal_plan *plan);

const char *heal_why_name(unsigned int why);
const char *heal_left_name(unsigned int left);
/* In words, from what is said of a VM: "it …". */
const char *heal_left_text(enum heal_left left);
/* A line without newline; @name: the VM's. */
#define HEAL_TEXT 1600			/* has room for any */
void heal_describe(char *buf, size_t size, const struct heal_action *action, unsigned int id, const char *name, bool placed);

#endif
