/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the samples and counters of one period to moves, for one domain: Carrefour's
 * heuristics, and what keeps them calm. Pure: no clock, no input or output, no chance that
 * the seed does not determine. The same periods give the same decisions, in the daemon and
 * in carrefour-replay.
 *
 * Replication is left out, as in the paper.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "decide/host.h"
#include "decide/measure.h"
#include "decide/sample.h"

#define NO_NODE 0xff
#define FREEZES_TOLD 64		/* in a period; the others are only counted */
#define DECISIONS_MAX (VM_MOVES_MAX + FREEZES_TOLD)

/* A domain's period. What it points to is the caller's, and only read. */
struct input {
	uint64_t ns;			/* how long it was */
	const struct sample *sample;
	size_t nr_samples;
	const uint64_t *matrix;		/* samples[accessing node * nr_nodes + node of the page], in this period */
	uint64_t marked, faults;	/* entries marked for hint faults, and faults on them; 0: none are */
	uint64_t ran_ns;		/* for which its vCPUs ran, all of them together; 0: not known */
	uint64_t home;			/* a bit for each home node */
	const uint8_t *vcpu_node;	/* the node that a vCPU's affinity names, or NO_NODE */
	unsigned int nr_vcpus;		/* in vcpu_node */
};

enum action {
	ACTION_MIGRATE, ACTION_INTERLEAVE, ACTION_SPLIT, ACTION_COLLAPSE,
	ACTION_FREEZE,		/* moves nothing: the page moves too often */
	NR_ACTIONS
};

enum why {
	WHY_ONE_NODE,		/* all samples that the page remembers are from one other node */
	WHY_OVERLOADED,		/* several nodes use it, and its own has more load than the target */
	WHY_FOUGHT_OVER,	/* 2 MiB: several nodes use it, none most of it */
	WHY_HOT,		/* 2 MiB: a load of its own, that moving would only move */
	WHY_HUGE,		/* 1 GiB: cannot be moved whole */
	WHY_ONE_NODE_AGAIN,	/* was divided, and is used by one node */
	WHY_NO_GAIN,		/* was divided, and that did not help */
	WHY_CAME_FROM,		/* would go back to where it came from */
	WHY_OFTEN,		/* would be moved for the third time */
	NR_WHYS
};

/* An order to move 2^order pages at gfn to node @to, and the numbers that led to it. */
struct decision {
	enum action action;
	enum why why;
	uint64_t gfn;
	uint8_t order;			/* 0 or 9, as XEN_DOMCTL_numa_policy takes it */
	uint8_t from, to;
	uint8_t samples, agree, nodes;	/* in the page's window: all, of the most frequent node, how many nodes */
	uint32_t hits;			/* samples of the page in this period */
	uint16_t load_from, load_to;	/* the nodes' share of 1000 samples, with what was decided before */
	uint32_t ms;			/* FREEZE: for how long; COLLAPSE: after how long */
};

/* Why nothing, or something, was done. */
enum state {
	STATE_OFF,	/* the daemon's: Carrefour is off, and nothing was decided */
	STATE_FOLLOWING,	/* the daemon's: its memory goes to where auto wants it, and Carrefour waits */
	STATE_FEW_SAMPLES, STATE_ONE_HOME, STATE_IDLE, STATE_BACKOFF, STATE_BALANCED, STATE_ACTIVE,
	NR_STATES
};

/* Pages that were not moved although a heuristic wanted it, by the reason. */
enum held {
	HELD_COOLDOWN, HELD_FROZEN, HELD_FAILED, HELD_NOT_HOME, HELD_FULL, HELD_BUDGET,
	NR_HELD
};

struct verdict {
	enum state state;
	struct measure measure;
	bool interleaving, migrating;
	unsigned int touched_pct;	/* of the marked entries; 100 where nothing was marked */
	int64_t accesses_per_us;	/* of the host; -1: unknown */
	uint64_t strange, untracked;	/* samples that make no sense, or found the table full */
	uint64_t again, again_same;	/* samples of pages that were sampled before; from the same node as then */
	unsigned int sharing;		/* home nodes among which a page may be shared: those that have CPUs */
	unsigned int efficiency_pct, judged;	/* of samples on moved pages, how many gained by it; when judged */
	unsigned int told, lost;	/* moves of which the samples have told in this period, and those that gained nothing */
	uint64_t backoff_ms;		/* what is left of it */
	unsigned int moves, held[NR_HELD], frozen, splits_open;
	uint64_t bytes;
};

/* Valid until the next call for the domain. */
struct outcome {
	struct verdict verdict;
	const struct decision *decision;
	size_t nr;
};

struct domain;

/* NULL: out of memory. It remembers @pages pages at most. */
struct domain *domain_new(uint32_t pages, unsigned int nr_nodes, uint64_t seed);
void domain_free(struct domain *domain);

/* Between periods: another number of pages; of fewer it keeps those that were seen last. False: no memory, all is as it was. */
bool domain_resize(struct domain *domain, uint32_t pages);
uint32_t domain_pages(const struct domain *domain);
/* What one with so many pages takes, but for the decisions of a period. */
size_t domain_bytes(uint32_t pages);

/*
 * host is that of this period, and is charged with what is decided. config may change
 * between periods.
 */
struct outcome decide(struct domain *domain, const struct config *config, struct host *host, const struct input *input);

#endif
