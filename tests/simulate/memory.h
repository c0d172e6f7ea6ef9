/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a guest: areas whose pages are accessed alike, and the node of each page. All that follows from where pages
 * are is counted by area, thread and node, so that a second costs as much for a terabyte as for a megabyte.
 */
#ifndef SIMULATE_MEMORY_H
#define SIMULATE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define NODES 32		/* at most, as numasim has them */
#define THREADS 1024
#define AREAS 64
#define CHUNK 512		/* pages of 2 MiB */
#define TOUCH_OWN (-1)
#define TOUCH_ALL (-2)

/* Which thread a page belongs to. */
enum layout { LAYOUT_BLOCKS, LAYOUT_SCATTERED, LAYOUT_MIXED };

enum by { BY_NONE, BY_OWN, BY_ALL, BY_NODE };

struct use {
	enum by by;
	unsigned int arg;	/* OWN: so many threads further; NODE: that one */
	double share;		/* of all misses */
	double touches;		/* for each miss */
};

struct area {
	char name[24];
	uint64_t first, pages;	/* gfns; it begins at 2 MiB */
	enum layout layout;
	int touched;		/* first: a node, TOUCH_OWN or TOUCH_ALL */
	struct use use;		/* now */
	uint32_t *count;	/* pages[thread * nodes + node] */
};

enum placement { PLACE_FIRST_TOUCH, PLACE_4K, PLACE_2M, PLACE_1G };

struct memory {
	unsigned int nodes, threads;
	bool large;		/* 2 MiB are one entry where they can be */
	struct area area[AREAS];
	unsigned int nr;
	uint64_t pages;		/* all areas together, up to whole 2 MiB */
	uint64_t seed;
	uint64_t free[NODES];	/* pages */
	uint8_t node_of[THREADS];
	struct chunk *chunk;
	uint16_t *area_of;	/* of each chunk */
};

/* Before placement; its pages follow those of the one before. NULL: there are too many. */
struct area *memory_add(struct memory *m, const char *name, uint64_t pages, enum layout layout, int touched);
/* All pages at once. free[] is to be set. False: out of memory. */
bool memory_place(struct memory *m, enum placement placement);
void memory_free(struct memory *m);

struct area *memory_area(const struct memory *m, uint64_t gfn);
unsigned int memory_thread(const struct memory *m, const struct area *a, uint64_t gfn);
uint8_t memory_node(const struct memory *m, uint64_t gfn);
/* Of the entry around gfn: 0 or 9. */
unsigned int memory_order(const struct memory *m, uint64_t gfn);
/* As Xen's move does it. False: no room, or no page. */
bool memory_move(struct memory *m, uint64_t gfn, unsigned int order, uint8_t to);
/* One page to where round-4k wants it; 2 MiB are divided. True: it moved. */
bool memory_interleave(struct memory *m, uint64_t gfn);

/* misses[node of the CPU * nodes + node of the memory] of @all of them. */
void memory_misses(const struct memory *m, double all, double *misses);
/* Bytes that are kept for it. */
uint64_t memory_bytes(const struct memory *m);

#endif
