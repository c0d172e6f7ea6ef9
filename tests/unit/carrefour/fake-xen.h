/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for Xen and xenstore, behind xen.h and store.h, with any number of guests. It keeps what those headers promise:
 * ESRCH for a domain that is gone, results of what was not tried, switches only if they have changed. Time is the fake's,
 * and passes by what calls cost, unless it is .real.
 */
#ifndef FAKE_XEN_H
#define FAKE_XEN_H

#include "guests/daemon.h"

enum fake_call {
	CALL_HOST, CALL_VCPUS, CALL_POLICY_GET, CALL_POLICY_SET, CALL_REBALANCE, CALL_START, CALL_GET, CALL_MOVE, CALL_STORE,
	CALL_WRITE, CALL_DOMAINS, CALL_MEMORY, CALL_STATS, CALL_NAME, CALL_NODES, CALL_LOAD, CALL_PREFER, CALL_GATHER, NR_CALLS
};

struct fake_guest {
	struct switches switches;
	bool gone;			/* Xen has no such domain */
	bool keeps_off;			/* auto=off */
	bool pv;
	uint8_t uuid[16];
	uint64_t bytes[NODES_MAX];	/* its memory; fake_begin(): 4 GiB on node 0 */
	uint64_t moves[NR_RESULTS];	/* pages, by others than xen_move() too */
	unsigned int nr_vcpus;
	double load;			/* CPUs that it keeps busy, ever since */
	uint64_t may, prefers;		/* nodes; 0: all */
	bool vnuma;
	struct xen_policy policy;
	unsigned int samples;		/* that come between two calls of xen_sample_get() */
	unsigned int span;		/* pages that it accesses; the first part of them from node 0, and so on */
	uint8_t *home;			/* of each */
	uint64_t gfns;			/* that xen_rebalance() has to look at */
	unsigned int moves_a_page;	/* ... and pages that it moves for one that comes to where vCPUs prefer to be; 0: all is there */
	uint64_t moved;			/* by xen_move() */
	enum xen_state state;
	char *ring;
	size_t ring_bytes;
	struct counters counters;
	bool page_events;		/* as store_tell_guest() said */
	int class;			/* as store_write_class() said; -1: never */
};

struct fake {
	unsigned int nr_nodes, nr;
	uint64_t free[NODES_MAX], bytes[NODES_MAX];
	double busy[NODES_MAX];		/* CPUs of each node, of 8 with two threads a core */
	struct fake_guest *guest;	/* by id, from 1 on */
	bool changed;			/* switches */
	bool real;			/* time */
	bool by_hand;			/* samples come by fake_sample() only */
	uint64_t now, random;
	uint64_t began;			/* in ns since 1970, when .now was 0 */
	uint64_t tick;			/* that each look at the clock takes */
	struct fake_trouble {
		int error;		/* 0: none */
		unsigned int of;	/* this domain; 0: all */
		unsigned int us;	/* that a call takes */
		unsigned int calls;	/* that there were */
	} call[NR_CALLS];
	unsigned int domctls;		/* that the real xen/ makes for all these calls */
	void (*between)(enum fake_call call, unsigned int id);	/* called before each one; NULL: nothing is */
};

extern struct fake fake;

/* Guests 1 to @nr, with Carrefour on, a first-touch policy and all memory on node 0. */
void fake_begin(unsigned int nr_nodes, unsigned int nr);
void fake_end(void);
struct fake_guest *fake_guest(unsigned int id);

/* The samples of a period. */
void fake_sample(struct fake_guest *guest);

/* A number from the environment. */
unsigned long fake_number(const char *name, unsigned long otherwise);

/* What a call costs; and its error. */
int fake_enter(enum fake_call call, unsigned int id);
/* ... with the guest, or why there is none. */
int fake_enter_guest(enum fake_call call, unsigned int id, struct fake_guest **guest);

#endif
