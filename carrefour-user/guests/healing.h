/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What heal has seen of the host from minute to minute, what it advises, and what it does of that. Knows nothing of Xen's calls;
 * daemon/heal.c asks and writes all of it, but for tasks, which daemon/heal-act.c carries out.
 */
#ifndef HEALING_H
#define HEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "heal/budget.h"
#include "heal/heal.h"
#include "heal/ledger.h"
#include "store/switches.h"
#include "xen/xen.h"

struct healing_vm {
	unsigned int id;
	bool there;			/* as of the last look */
	char name[NAME_SIZE];
	bool placed;			/* its policy has a place for memory */
	uint64_t seen_at, asked_at;	/* first, and last */
	uint64_t cpu_ns;		/* that it had used then */
	uint64_t used_ns;		/* since it was seen */
	double load, peak;		/* CPUs, as struct heal_vm's */
	bool known;			/* there is a load */
	uint64_t home_at;		/* when heal has changed its home; 0: never */
	bool unmovable;			/* Xen has said so */
	uint64_t stuck_until, stuck_ns;	/* most of what was to move did not: not again before; for how long, the last time */
	enum heal_left left;
	struct heal_action action;	/* if left is LEFT_ACTED; it was said then */
};

/* An action that is carried out, or waits for those before it. */
struct healing_task {
	unsigned int id;
	uint64_t at;			/* when it was decided */
	uint64_t home, before;		/* nodes that its vCPUs are to prefer, and have preferred; UINT64_MAX: all */
	uint64_t left;			/* bytes that are still to come to the home nodes */
	uint64_t may_stay;		/* ... and that are to stay elsewhere, as the hour has no room for them */
	uint64_t may_move;		/* pages, whatever comes of it: by 2 MiB some move that are at home */
	uint64_t nodes;			/* all that had CPUs then */
	uint64_t asked;			/* the period in which it was asked for last what its user wants, and one more */
	bool sent;			/* its vCPUs were told to, or some of them */
	bool prefers;			/* its vCPUs do */
	uint64_t gfn;			/* memory below it was looked at */
	uint64_t moved, stays;		/* pages; the latter cannot move, or had no room */
};

#define HEALING_TASKS 16		/* more than heal_rules has actions */

struct healing {
	struct healing_vm *vm;		/* by id */
	unsigned int nr;
	uint64_t looked_at;		/* 0: never, or heal is off */
	uint64_t idle_ns[NODES_MAX], crowded_ns[NODES_MAX];	/* of nodes */
	uint64_t nodes_at;		/* as of then; 0: not known */
	int error;			/* that was said */
	struct healing_task task[HEALING_TASKS];	/* the first one is at work */
	unsigned int nr_tasks;
	struct heal_budget budget;
	struct heal_ledger ledger;	/* since heal is on */
};

/* The one of this domain, or a new one. NULL: out of memory. */
struct healing_vm *healing_of(struct healing *healing, unsigned int id, uint64_t now);
/* The same, if there is one; else NULL. */
struct healing_vm *healing_find(const struct healing *healing, unsigned int id);
/* Forgets all that are not there. */
void healing_drop(struct healing *healing);
void healing_free(struct healing *healing);

/* What it has used since it was asked last: its load of late, on average, and at its most. */
void healing_used(struct healing_vm *vm, uint64_t cpu_ns, uint64_t now);
/* Whether a node's CPUs have had more work than cores, and for how long. */
void healing_nodes(struct healing *healing, const struct xen_node_load load[NODES_MAX], unsigned int nr, uint64_t now);

#endif
