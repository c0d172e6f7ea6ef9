/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine's caches and counters do with each access.
 *
 * Hot path: no lock, no shared word but an L3's entries.  A CPU's counters are written by its own thread only; others may read
 * them at any time.
 */
#ifndef NUMASIM_SIM_H
#define NUMASIM_SIM_H

#include "cache.h"
#include "machine.h"
#include "tlb.h"

/* Looks at the counters, in the time in which there are as many misses as in an epoch. */
#define LOOKS_AN_EPOCH 50

enum mode { USER, KERNEL, XEN, MODES };
extern const char *const mode_names[MODES];

/* Of one CPU since the region began. */
struct counts {
	uint64_t accesses[MODES];
	uint64_t misses[MODES][MAX_NODES];	/* of the last cache, by node of the memory */
	uint64_t write_backs[MAX_NODES];
	uint64_t l2_hits[MODES], l3_hits[MODES];
	uint64_t handed_over[MODES];		/* misses of lines that another CPU wrote last */
	uint64_t tlb_hits[MODES];		/* in its second level */
	uint64_t walks[MODES];			/* of page tables; what walk caches do not have of them are references, to: */
	uint64_t walk_l2_hits[MODES], walk_l3_hits[MODES], walk_misses[MODES][MAX_NODES];
	uint64_t walks_lost;			/* that came to an end in nothing */
	uint64_t idle;				/* accesses of an idle CPU: they are in no other count */
	uint64_t unresolved;			/* accesses whose machine address the emulator does not tell */
	uint64_t nowhere;			/* accesses to memory of no node */
	uint64_t nowhere_address;		/* the last of them */
};

struct sim_cpu {
	struct counts counts;
	unsigned int unreported;		/* misses that it has not told yet */
	uint32_t streamed;			/* the line of its last streaming store, or NO_LINE */
	bool idle;				/* of its own thread */
	int node;
	uint32_t bit;				/* in the words of struct sharing */
	struct filter *l1;
	struct cache *l2, *l3;			/* the L3 is the node's */
	struct tlb *tlb;			/* NULL: translation is free */
} __attribute__((aligned(128)));

struct sim {
	const struct machine *machine;
	struct sim_cpu *cpu[MAX_CPUS];		/* NULL: not watched */
	struct cache *l3[MAX_NODES];
	struct sharing *sharing;		/* NULL: what a CPU writes changes nothing for the others */
	struct memory *memory;			/* with the page tables */
	uint8_t *node_of_mib;			/* node + 1; 0 is no node */
	uint64_t mibs;
	uint64_t window;			/* misses from one look at the counters to the next */
	uint64_t told __attribute__((aligned(128)));	/* misses that CPUs have told */
};

struct sim *sim_new(const struct machine *machine);
void sim_free(struct sim *sim);
/* Empty caches, counters zero.  No access may be under way. */
void sim_clear(struct sim *sim);

/*
 * An access that the L1 filter did not settle.  `hit` is what it said, `address` the machine address.  Returns whether it is
 * time to look at the counters; it says so to one caller.
 */
bool sim_beyond_l1(struct sim *sim, struct sim_cpu *cpu, enum hit hit, enum mode mode, uint64_t address, bool store);

/*
 * What tlb_is_recent() did not settle, before the access itself: finds the translation, and if need be walks page tables, whose
 * entries are accesses to the L2, L3 and memory.  Returns as sim_beyond_l1() does.
 */
bool sim_translate(struct sim *sim, struct sim_cpu *cpu, enum mode mode, const struct paging *paging, uint64_t address);

/*
 * A streaming store, after the L1 filter has dropped the line: so do L2 and L3, whatever was written to it.  It goes to memory as
 * a write-back does, once a line: those that follow to the same one are combined.
 */
void sim_stream(struct sim *sim, struct sim_cpu *cpu, uint64_t address);

/* Adds to a counter that others read. */
static inline void count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline uint64_t counted(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
