/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers of tests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "chance.h"

static uint64_t state;

void test_begin(uint64_t seed)
{
	state = seed | 1;
}

void test_seed(void)
{
	const char *env = getenv("SEED");
	uint64_t seed = env ? strtoull(env, NULL, 0) : (uint64_t)time(NULL) * 2654435761u;

	printf("replay with SEED=%" PRIu64 "\n", seed);
	test_begin(seed);
}

/* xorshift64*, Marsaglia and Vigna. */
uint64_t rnd64(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ULL;
}

unsigned int rnd(unsigned int below)
{
	return (unsigned int)(rnd64() >> 33) % below;
}
