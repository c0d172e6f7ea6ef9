/* SPDX-License-Identifier: GPL-2.0-only */
#include "heal/budget.h"

/* Minutes that are more than an hour ago are forgotten. */
static void go_on(struct heal_budget *b, uint64_t now)
{
	uint64_t minute = now / BUDGET_MINUTE_NS;
	unsigned int i;

	for (i = 0; i < BUDGET_MINUTES && b->minute < minute; i++)
		b->bytes[++b->minute % BUDGET_MINUTES] = 0;
	b->minute = minute;
}

uint64_t heal_budget_hour(struct heal_budget *b, uint64_t now)
{
	uint64_t bytes = 0;
	unsigned int i;

	go_on(b, now);
	for (i = 0; i < BUDGET_MINUTES; i++)
		bytes += b->bytes[i];
	return bytes;
}

uint64_t heal_budget_left(struct heal_budget *b, const struct heal_rules *rules, uint64_t now, uint64_t all)
{
	uint64_t most = all / 1000 * rules->hour_permille, moved = heal_budget_hour(b, now);

	return moved < most ? most - moved : 0;
}

void heal_budget_took(struct heal_budget *b, uint64_t now, uint64_t bytes)
{
	go_on(b, now);
	b->bytes[b->minute % BUDGET_MINUTES] += bytes;
}
