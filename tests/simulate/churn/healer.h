/* SPDX-License-Identifier: GPL-2.0-only */
/* heal at work on a world: what the daemon does each minute. */
#ifndef CHURN_HEALER_H
#define CHURN_HEALER_H

#include "heal/budget.h"
#include "heal/ledger.h"
#include "world.h"

struct healer {
	struct heal_budget budget;
	struct heal_ledger ledger;
	unsigned int actions[NR_HEAL_WHYS], left[NR_HEAL_LEFT];	/* the latter: of the last minute */
	uint64_t moved_mib;
	double most_hour;		/* part of the host's memory that moved in any hour */
};

/* False: out of memory. */
bool healer_minute(struct healer *healer, struct world *world, unsigned int minute);

#endif
