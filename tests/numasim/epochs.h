/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened at the same time, on a machine that was not there.
 *
 * The emulator's host runs the CPUs in turn, for as long as it pleases, so the order in which their work was seen says little
 * about what a machine would have done at once.  What each CPU did, in its own order, is exact.  Hence:
 *
 * A region is cut where CPUs come in, each when it has done 2 % of its work: before, the others had the machine for themselves,
 * as a master that initializes has.  Within such a segment each CPU's work is cut into as many equal parts, and the first
 * part of one goes with the first part of every other, and so on.  These are the epochs.
 */
#ifndef NUMASIM_EPOCHS_H
#define NUMASIM_EPOCHS_H

#include "model.h"

/*
 * Work as it was seen, in pieces of about the same number of misses: windows in order, an element a CPU in each.  Their number is
 * bounded: when there are too many, each two become one.
 */
struct windows {
	unsigned int cpus, used, merged;	/* a window is `merged` pieces as they were added */
	unsigned int pending;			/* pieces in the last one */
	struct work *work;
};

#define MAX_WINDOWS 4096u

void windows_init(struct windows *windows, unsigned int cpus);
void windows_free(struct windows *windows);
/* Forgets everything. */
void windows_clear(struct windows *windows);
/* Where the next piece is to be added, by whoever has the only right to. */
struct work *windows_next(struct windows *windows);

/* Cuts windows into epochs and adds these to the totals. */
void epochs_add(const struct model *model, const struct windows *windows, struct totals *totals);

#endif
