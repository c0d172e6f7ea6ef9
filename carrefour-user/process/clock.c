/* SPDX-License-Identifier: GPL-2.0-only */
#include <time.h>

#include "process/clock.h"

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}
