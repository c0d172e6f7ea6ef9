/* SPDX-License-Identifier: GPL-2.0-only */
/* A host with its VMs: where their memory is, and on which nodes they run. It knows nothing of heal. */
#ifndef CHURN_WORLD_H
#define CHURN_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES 16
#define VMS 4096

struct shape {
	unsigned int nodes, cores, threads;	/* of a node, the latter two; threads: of all of its cores */
	uint64_t node_mib, dom0_mib;		/* dom0's are on node 0 */
	double strays;				/* part of its time that a VM runs anywhere, whatever its affinity */
};

struct vm {
	unsigned int id, vcpus;
	uint64_t mib, on[NODES];
	uint64_t affinity;			/* of vCPUs, soft, and of memory; 0: all nodes */
	double load;				/* CPUs that it keeps busy now */
	double ran[NODES];			/* part of its time */
	double busy, usual, peak;		/* load of late, and ever, on average; and the most of the former */
	unsigned int ran_for;			/* minutes */
	unsigned int born, moved;		/* minutes; 0: its home never was changed */
	uint64_t random;			/* its own, for its load */
};

struct world {
	struct shape shape;
	struct vm vm[VMS];
	unsigned int nr;
	uint64_t free[NODES];			/* MiB */
	double work[NODES];			/* CPUs that are busy */
	unsigned int crowded[NODES];		/* minutes for which these have been more than cores */
};

void world_begin(struct world *world, const struct shape *shape);
/* Takes memory for it as Xen does, on the nodes of its affinity first. There is enough. */
struct vm *world_add(struct world *world, const struct vm *vm);
void world_remove(struct world *world, unsigned int i);
uint64_t world_free(const struct world *world);

/* A minute: each vCPU runs on the least busy of the nodes that it prefers, or, if these are full, of all. */
void world_run(struct world *world);

/* At most @mib go to the nodes @home, evenly as far as there is room; returns how much did. */
uint64_t world_gather(struct world *world, struct vm *vm, uint64_t home, uint64_t mib);

/* Part of its accesses that is local; and of all VMs, each as much as its memory. */
double world_local_of(const struct world *world, const struct vm *vm);
double world_local(const struct world *world);
/* VMs on several nodes that would fit on one as the host is now, if only they moved. */
unsigned int world_spans(const struct world *world);

#endif
