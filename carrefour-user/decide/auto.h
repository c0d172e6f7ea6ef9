/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `auto`: the policy for a guest by a forecast of its memory time (forecast.h). Pure, as decide.h is.
 *
 * A class has the paper's names and policies: low is first-touch, moderate first-touch with Carrefour, high round-4k with
 * Carrefour. The forecast is of what is measured under first-touch; and with Carrefour at work, which takes imbalance away,
 * only what is worse than the class says counts. A guest that is interleaved for its imbalance has a way
 * back: pages that are private, each accessed by one node, are better off with that node.
 * A period counts by how busy the guest was in it with its memory: what it waits for are accesses, and a guest at rest, or one
 * vCPU, makes few.
 */
#ifndef AUTO_H
#define AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/decide.h"
#include "decide/forecast.h"

enum auto_why {
	AUTO_FEW_SAMPLES, AUTO_NOT_ITS_POLICY,	/* nothing learnt in this period */
	AUTO_WAITING,				/* another class, but not for long enough */
	AUTO_SAME, AUTO_CHANGED,
	NR_AUTO_WHYS
};

struct mean {
	double value;		/* negative: none yet */
	uint64_t ns;		/* that it is of, up to a dwell time */
};

struct auto_state {
	enum auto_class class, candidate;
	uint64_t candidate_ns;	/* for how long it has been one, as its periods count */
	struct mean mean, detour, spread;	/* struct placed's */
	double expected;	/* forecast() of the class when it was found; negative: none */
	struct mean came;	/* the time of an access since then, by the same model */
	struct mean private;	/* share of accesses to private pages, in 1/1000, while interleaved */
	unsigned int returns;	/* how often it has come back from being interleaved */
	double running, touched;	/* struct auto_input's, as last known */
	double busiest;		/* the most of both together, of late */
};

struct auto_input {
	uint64_t ns, samples;
	double running, touched;	/* 0 to 1: part of the time its vCPUs ran, of what was marked that was accessed; negative: not known */
	unsigned int imbalance, own_imbalance, detour, spread;	/* struct measure's */
	uint64_t again, again_same;	/* struct verdict's */
	unsigned int home_nodes;	/* struct verdict's sharing */
	const char *policy;		/* what the guest has now */
	bool carrefour;
};

struct advice {
	enum auto_class class;
	enum auto_why why;
	const char *policy;		/* as xl.cfg names it */
	bool carrefour;
	int imbalance, private;		/* struct auto_state's means that it is based on; negative: none */
	int time[NR_CLASSES];		/* by the forecast; of those that are not known, and of CLASS_UNKNOWN, negative */
	int expected, came;		/* struct auto_state's; negative: none */
};

struct auto_state auto_begin(void);
/* Of a period: what was decided on, and what came of it. */
struct auto_input auto_input_of(const struct input *in, const struct verdict *v, const char *policy, bool carrefour);
struct advice auto_step(struct auto_state *state, const struct config *config, const struct auto_input *input);

/* The class that was found last is not to be: it is as @before, and what has led to it is forgotten. */
void auto_take_back(struct auto_state *state, const struct auto_state *before);

const char *class_name(enum auto_class class);
const char *class_policy(enum auto_class class);
/* A line without newline. */
void auto_explain(char *buf, size_t size, const struct advice *advice);

#endif
