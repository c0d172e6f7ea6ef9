/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What heal has seen of the host from minute to minute, and what it advises. Knows nothing of Xen's calls; daemon/heal.c asks,
 * and writes all of it.
 */
#ifndef HEALING_H
#define HEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "heal/heal.h"
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
	enum heal_left left;
	struct heal_action action;	/* if left is LEFT_ACTED; it was said then */
};

struct healing {
	struct healing_vm *vm;		/* by id */
	unsigned int nr;
	uint64_t looked_at;		/* 0: never, or heal is off */
	uint64_t idle_ns[NODES_MAX], crowded_ns[NODES_MAX];	/* of nodes */
	uint64_t nodes_at;		/* as of then; 0: not known */
	int error;			/* that was said */
};

/* The one of this domain, or a new one. NULL: out of memory. */
struct healing_vm *healing_of(struct healing *healing, unsigned int id, uint64_t now);
/* Forgets all that are not there. */
void healing_drop(struct healing *healing);
void healing_free(struct healing *healing);

/* What it has used since it was asked last: its load of late, on average, and at its most. */
void healing_used(struct healing_vm *vm, uint64_t cpu_ns, uint64_t now);
/* Whether a node's CPUs have had more work than cores, and for how long. */
void healing_nodes(struct healing *healing, const struct xen_node_load load[NODES_MAX], unsigned int nr, uint64_t now);

#endif
