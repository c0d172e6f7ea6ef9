/* SPDX-License-Identifier: GPL-2.0-only */
/* How much heal may move: a part of the host's memory in any hour, not in each of the clock's. Pure. */
#ifndef HEAL_BUDGET_H
#define HEAL_BUDGET_H

#include <stdint.h>

#include "heal/heal.h"

#define BUDGET_MINUTES 61	/* an hour, and the minute that is not over */
#define BUDGET_MINUTE_NS (60000 * MS)

struct heal_budget {
	uint64_t bytes[BUDGET_MINUTES];	/* that moved in each */
	uint64_t minute;		/* the last one that is in it */
};

/* Bytes of @all that may move at @now. */
uint64_t heal_budget_left(struct heal_budget *budget, const struct heal_rules *rules, uint64_t now, uint64_t all);
void heal_budget_took(struct heal_budget *budget, uint64_t now, uint64_t bytes);
/* That moved in the hour before @now. */
uint64_t heal_budget_hour(struct heal_budget *budget, uint64_t now);

#endif
