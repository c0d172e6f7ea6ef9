/* SPDX-License-Identifier: GPL-2.0-only */
/* What no placement can surpass, and what one reaches that knows all and moves for nothing. */
#ifndef CHURN_BOUND_H
#define CHURN_BOUND_H

#include "world.h"

/*
 * The local part of accesses that each VM could have if it had the host for itself, each as much as its memory: with all VMs in
 * place it can only be less. No placement, no foresight and no move is better.
 */
double bound_local(const struct world *world);

/* All VMs placed anew, the largest first, each on the fewest nodes that have room, of these those with the least work. */
double bound_repacked(const struct world *world);

#endif
