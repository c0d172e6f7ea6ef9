/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host with guests whose accesses follow a pattern. Pages go where they are told to, nothing
 * more. Each step checks what must hold of any decisions, whatever the pattern.
 */
#ifndef WORLD_H
#define WORLD_H

#include "chance.h"
#include "decide/decide.h"
#include "trace/trace.h"

#define GUESTS_MAX 4
#define PAGES_IN_2M 512

struct guest;

/* The node that accesses @page now. */
typedef uint8_t pattern(struct guest *guest, unsigned int page);

struct guest {
	struct domain *domain;
	unsigned int id, nr_pages;	/* of 4 KiB; gfns are base + page */
	uint64_t base;
	uint8_t *node, *order;		/* of each page; ORDER_4K or ORDER_2M */
	bool *stuck;			/* cannot move */
	uint64_t *moved_at;		/* period of the last order, + 1 */
	pattern *access;
	unsigned int samples;		/* a period */
	unsigned int hot_pages;		/* only the first ones are accessed; 0: all */
	uint64_t home;
	/* Of the last step, and of all. */
	struct verdict last;
	unsigned int moves, actions[NR_ACTIONS], all_moves, all_actions[NR_ACTIONS];
	unsigned int all_whole;		/* 2 MiB that were moved to be local, or interleaved */
	unsigned int told, lost;	/* struct verdict's, of all steps */
};

struct world {
	struct config config;
	struct host host;
	uint64_t free[NODES_MAX];
	struct guest guest[GUESTS_MAX];
	unsigned int nr;
	uint64_t period;
	int64_t accesses_per_us;
	FILE *trace;			/* NULL: none is written */
};

/* Two nodes with CPUs, 0 and 1, and a memory near to each, 2 and 3. */
struct topology world_slow_memory(void);

/* A world with @gib GiB free on each node, without reserve. */
void world_begin(struct world *w, unsigned int nr_nodes, unsigned int gib);
void world_end(struct world *w);

/* All pages on node @on, or, with NO_NODE, in turn; of @order. */
struct guest *world_add(struct world *w, unsigned int nr_pages, uint8_t on, uint8_t order, pattern *access);
void world_step(struct world *w);
void world_steps(struct world *w, unsigned int n);

/* Without noise to speak of: of 1000 accesses, and in 1/1000. */
unsigned int world_local(struct world *w, struct guest *g);
unsigned int world_imbalance(struct world *w, struct guest *g);

/* Patterns. Partitions are of equal size, the first one is node 0's. */
pattern partitioned, shared, alternating, rotated, all_from_1, divided_within_2m;
extern unsigned int pattern_nodes;
extern uint64_t pattern_period;

#endif
