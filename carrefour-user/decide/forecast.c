/* SPDX-License-Identifier: GPL-2.0-only */
#include "decide/forecast.h"

/*
 * Fitted to the memory cycles of the 11 workloads of make bench that wait for memory most of their time, each under five static
 * placements: what is as far as SLIT's 20 takes 1.5 times as long; and where loads have a relative variance of 1, as when two of
 * four nodes have it all, the mean access finds so much more of a queue.
 */
#define FAR 0.5
#define QUEUE 0.28
/* What Carrefour leaves of the detour and of the imbalance: before it has tried, neither nothing nor all. */
#define LEFT 0.5

static double waits(double detour, double imbalance)
{
	return 1000 + FAR * detour + QUEUE * imbalance * imbalance / 1000;
}

double forecast(const struct placed *p, enum auto_class class)
{
	switch (class) {
	case CLASS_MODERATE:
		return waits(p->detour * LEFT, p->imbalance * LEFT);
	case CLASS_HIGH:
		return waits(p->spread * LEFT, 0);
	default:
		return waits(p->detour, p->imbalance);
	}
}

bool forecast_private_is_good(double own_imbalance, double spread)
{
	return waits(0, own_imbalance) <= waits(spread, 0);
}
