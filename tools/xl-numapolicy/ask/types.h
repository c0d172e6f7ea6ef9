/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands know of Xen, in plain types. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/units.h"

#define NO_NODE (~0u)

enum result {
	RESULT_OK,
	RESULT_NO_RIGHTS,	/* not allowed to talk to Xen */
	RESULT_NO_XEN,		/* no Xen below, or no privcmd device */
	RESULT_NO_FEATURE,	/* this hypervisor has no placement policies */
	RESULT_NO_DOMAIN,
	RESULT_REFUSED,		/* bad argument, or a domain that cannot do this */
	RESULT_NO_POLICY,	/* it is "none", which has no place for memory */
	RESULT_BUSY,		/* somebody else samples the domain */
	RESULT_HAS_DEVICE,	/* ... assigned to the domain */
	RESULT_FOREIGN,		/* another toolstack has made the domain: libxl has no configuration of it */
	RESULT_FAILED,
};

#define UUID_TEXT 37		/* of a UUID, with the end */

struct domain {
	uint32_t id;
	char uuid[UUID_TEXT];	/* lower case */
	char *name;		/* owned; NULL if the domain has none (yet) */
	const char *type;	/* "PV", "PVH", "HVM" or "?" */
	bool pv;
	bool dying;
	uint64_t claimed;	/* bytes that it is to get, while it is being made */
};

struct nodes {
	unsigned int nr;	/* highest node number + 1 */
	bool exists[NODES_MAX];
	bool memory[NODES_MAX];	/* only a node with memory can be a home node */
	uint64_t bytes[NODES_MAX], free[NODES_MAX];
	uint32_t cpus[NODES_MAX]; /* all 0: it could not be told */
	uint8_t distance[NODES_MAX][NODES_MAX]; /* from and to; what Xen does not know is as if all were equally far */
};

/* What carrefourd is to do with a domain; what is left unset stays as it is. */
struct dynamic {
	enum { SWITCH_UNSET, SWITCH_OFF, SWITCH_ON, SWITCH_ADVISE } carrefour, automatic;
};

/* A policy as somebody asks for it. */
struct request {
	unsigned int policy;	/* libxl's number */
	bool has_nodes;		/* else home nodes are the node affinity */
	bool node[NODES_MAX];
	unsigned int nr_weights; /* 0: equal */
	uint32_t weight[NODES_MAX];
	uint32_t max_pause_us;	/* 0: no limit */
	bool has_pause;		/* somebody named it */
	struct dynamic dynamic;
};

/* The policy in force. */
struct policy {
	const char *name;
	bool vnuma;			/* and thus no policy, but a placement of the guest's own */
	bool follows_affinity;
	uint32_t weight[NODES_MAX];	/* by node number; 0: not a home node */
	uint32_t max_pause_us;	/* 0: no limit */
	uint64_t placed, fallback;	/* 4 KiB pages */
};

enum page_size { SIZE_4K, SIZE_2M, SIZE_1G, PAGE_SIZES };

struct usage {
	uint64_t mappings[NODES_MAX][PAGE_SIZES];
};

struct page {
	uint64_t gfn;		/* in */
	unsigned int node;	/* out; NO_NODE: no RAM at this gfn */
	unsigned int order;	/* out; of the mapping, in 4 KiB pages */
};

/* What became of memory that was to be moved, in 4 KiB pages. */
struct moves {
	uint64_t moved;
	/* left where they were: */
	uint64_t there;		/* on the right node before */
	uint64_t in_use, unmovable, no_room;
	uint64_t late;		/* the guest would have waited for too long */
	uint64_t no_table;	/* the domain has too few pages left for page tables */
	uint64_t claimed;	/* the node has room, which domains claim that are being made */
};

/* Which node memory leaves, and for which ones: in turn, as long as they have room. */
struct leave {
	unsigned int node, nr_to, to[NODES_MAX];
};

/* Those that are not where they should be. */
static inline uint64_t moves_left(const struct moves *m)
{
	return m->in_use + m->unmovable + m->no_room + m->late + m->no_table + m->claimed;
}

struct move_stats {
	struct moves pages;
	uint64_t batches, flush_rounds;
	uint64_t locked_ns, longest_ns;
	uint64_t pause_ns, exceeded;	/* since the limit was changed */
	uint64_t copied_again;
};

/* Pages of 4 KiB that are mapped when they are touched. */
struct touch_stats {
	uint64_t untouched;
	uint64_t reserve[NODES_MAX];	/* those that wait on each node */
	/* since the domain was made: */
	uint64_t small, large;		/* touches, by the size that they mapped */
	uint64_t by_others;		/* of these, not by the domain's vCPUs */
	uint64_t exchanged;		/* with the heap of a node */
	uint64_t released, flush_rounds;
	/* released by the guest, but left as they were: */
	uint64_t absent, in_use, unfit, no_table;
	uint64_t events, invalid;
};

/* All that Xen has counted of a domain. */
struct stats {
	struct move_stats moves;
	struct touch_stats touches;
};

#endif
