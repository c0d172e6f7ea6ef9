/*
 * `auto`: the policy for a guest by the paper's classes. Pure, as decide.h is.
 *
 * The paper classifies by the imbalance under first-touch. So only what is measured under
 * first-touch counts; and with Carrefour at work, which takes imbalance away, only what
 * is worse than the class says.
 */
#ifndef AUTO_H
#define AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

enum auto_class { CLASS_UNKNOWN, CLASS_LOW, CLASS_MODERATE, CLASS_HIGH, NR_CLASSES };

enum auto_why {
	AUTO_FEW_SAMPLES, AUTO_NOT_FIRST_TOUCH,	/* nothing learnt in this period */
	AUTO_WAITING,				/* another class, but not for long enough */
	AUTO_SAME, AUTO_CHANGED,
	NR_AUTO_WHYS
};

struct auto_state {
	enum auto_class class, candidate;
	uint64_t candidate_ns;	/* for how long it has been one */
	double mean;		/* of the imbalance, in 1/1000; negative: none yet */
};

struct auto_input {
	uint64_t ns, samples;
	unsigned int imbalance;		/* 1/1000 */
	bool first_touch, carrefour;	/* what the guest has now */
};

struct advice {
	enum auto_class class;
	enum auto_why why;
	const char *policy;		/* as xl.cfg names it */
	bool carrefour;
	unsigned int imbalance;		/* the mean that it is based on, in 1/1000 */
};

struct auto_state auto_begin(void);
struct advice auto_step(struct auto_state *state, const struct config *config, const struct auto_input *input);

const char *class_name(enum auto_class class);
/* A line without newline. */
void auto_explain(char *buf, size_t size, const struct advice *advice, const struct config *config);

#endif
