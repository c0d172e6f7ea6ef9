/* SPDX-License-Identifier: GPL-2.0-only */
#include <time.h>

#include "process/clock.h"

static uint64_t read_clock(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}
