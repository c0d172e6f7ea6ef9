/* SPDX-License-Identifier: GPL-2.0-only */
/* At most so fast, and stopping between two steps when a signal asks for it. */
#ifndef PACE_H
#define PACE_H

#include <signal.h>
#include <stdint.h>

struct pace {
	uint64_t limit;		/* bytes a second; 0: as fast as it goes */
	uint64_t begin, step;	/* when all of it began, and this step, in ns */
	uint64_t due;		/* when the next step may begin */
	sigset_t stop;
};

/* From here on SIGINT and SIGTERM do nothing but what pace_step() tells. */
void pace_begin(struct pace *pace, uint64_t limit);
/*
 * The end of a step: sleeps as long as the limit asks. Returns the signal that
 * wants us to stop, or 0.
 */
int pace_step(struct pace *pace, uint64_t bytes);
/* So long, or until a signal wants us to stop: that, or 0. */
int pace_wait(struct pace *pace, uint64_t ns);
/* Nanoseconds since pace_begin(). */
uint64_t pace_elapsed(const struct pace *pace);

#endif
