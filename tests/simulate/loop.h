/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop: a second of the guest, then a period of the daemon's. */
#ifndef SIMULATE_LOOP_H
#define SIMULATE_LOOP_H

#include "decide/auto.h"
#include "decide/decide.h"
#include "decide/follow.h"
#include "sampler.h"
#include "scenario.h"

/* True of the guest, whatever was sampled. */
struct state_of_second {
	double work;		/* misses of a thread, in millions */
	double local, imbalance, link;	/* shares; imbalance: standard deviation over mean */
	uint64_t moves;		/* that took place, of a page or of 2 MiB */
	double moved_mib, lost;	/* lost: share of the vCPUs' time */
	unsigned int samples;
	double seen_local, seen_imbalance;	/* by the samples */
	const char *state, *policy;
	bool carrefour;
};

struct totals_of_loop {
	unsigned int seconds, policies;
	double work, moved_mib, lost_sampling, lost_moving;
	uint64_t moves, action[NR_ACTIONS], followed, failed, samples, marked;
	uint64_t back;		/* moves of what went back to where it came from */
	uint64_t told, lost;	/* struct verdict's */
};

struct trip;

struct loop {
	const struct scenario *scenario;
	struct memory memory;
	struct clock *clock;
	struct where *where;
	struct sampler sampler;
	unsigned int next_event;
	uint64_t chance;
	double per_second;	/* units of work, of the last second */
	double copied[NODES * NODES], lost_moving_ns;	/* in the last one */
	/* carrefourd's */
	struct host host;
	struct domain *domain;
	struct auto_state class;
	struct follow follow;
	const char *policy;
	bool carrefour, applied;
	uint8_t vcpu_node[THREADS];
	struct trip *trip;	/* where what was moved lately came from */
	struct state_of_second now;
	struct totals_of_loop totals;
};

/* False: out of memory. The scenario stays the caller's. */
bool loop_begin(struct loop *loop, const struct scenario *scenario);
bool loop_second(struct loop *loop);
void loop_end(struct loop *loop);
/* What the daemon has for the guest, its samples too. */
uint64_t loop_bytes(const struct loop *loop);

#endif
