/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers that one seed decides: Steele, Lea and Flood's SplitMix. */
#ifndef BARE_RANDOM_H
#define BARE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t any(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline uint64_t below(struct random *random, uint64_t limit)
{
	return (any(random) >> 32) * limit >> 32;
}

static inline bool one_in(struct random *random, unsigned int n)
{
	return !below(random, n);
}

#endif
