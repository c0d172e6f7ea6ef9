/* SPDX-License-Identifier: GPL-2.0-only */
/* Chance that the seed determines. splitmix64, Steele, Lea and Flood, OOPSLA 2014. */
#ifndef SIMULATE_CHANCE_H
#define SIMULATE_CHANCE_H

#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* From 0 to less than n. */
static inline uint64_t chance_below(uint64_t *state, uint64_t n)
{
	return ((unsigned __int128)chance_next(state) * n) >> 64;
}

/* From 0 to less than 1. */
static inline double chance_part(uint64_t *state)
{
	return (chance_next(state) >> 11) * 0x1p-53;
}

/* Of a number, always the same one. */
static inline uint64_t chance_of(uint64_t number)
{
	return chance_next(&number);
}

#endif
