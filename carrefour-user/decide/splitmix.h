/* SPDX-License-Identifier: GPL-2.0-only */
/* Chance that a seed determines: splitmix64, Steele, Lea and Flood, OOPSLA 2014. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* From 0 to less than 1. */
static inline double splitmix_part(uint64_t *state)
{
	return (splitmix_next(state) >> 11) * 0x1p-53;
}

#endif
