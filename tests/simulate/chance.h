/* SPDX-License-Identifier: GPL-2.0-only */
/* What scenarios draw by decide/splitmix.h. */
#ifndef SIMULATE_CHANCE_H
#define SIMULATE_CHANCE_H

#include <stdint.h>

#include "decide/splitmix.h"

/* From 0 to less than n. */
static inline uint64_t chance_below(uint64_t *state, uint64_t n)
{
	return ((unsigned __int128)splitmix_next(state) * n) >> 64;
}

/* Of a number, always the same one. */
static inline uint64_t chance_of(uint64_t number)
{
	return splitmix_next(&number);
}

#endif
