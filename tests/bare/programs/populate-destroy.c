// SPDX-License-Identifier: GPL-2.0-or-later
/* A domain is destroyed by one CPU while another one populates it, at any moment of that. */
#include "bare.h"

#include "hypercall.h"

#define INTERRUPTED 10
#define MOST_ROUNDS 1000
#define EXTENTS 8
#define LONGEST_WAIT 50000	/* turns, a part of an extent */

static volatile unsigned long round, destroyed, extents;
static volatile domid_t domid;
static volatile long result;

static unsigned long random(unsigned long below)
{
	static uint64_t state = 1;

	/* Knuth's MMIX */
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % below;
}

static void destroy_each(void)
{
	for (unsigned long mine = 1;; mine++) {
		unsigned long after = random(EXTENTS), wait = random(LONGEST_WAIT);

		while (round < mine || extents < after)
			pause_cpu();
		for (volatile unsigned long i = 0; i < wait; i++)
			;
		result = destroy_domain(domid);
		destroyed = mine;
	}
}

void program(void)
{
	unsigned long failed = 0, interrupted = 0, i;

	start_second_cpu(destroy_each);
	for (i = 1; i <= MOST_ROUNDS && interrupted < INTERRUPTED; i++) {
		unsigned long n = 0;

		extents = 0;
		domid = new_domain(64, 1);
		round = i;
		while (n < EXTENTS && populate(domid, PAGES_2M * n, ORDER_2M, ANY_NODE) == 1)
			extents = ++n;
		interrupted += n < EXTENTS;
		/* it may wait for one that will not be */
		extents = EXTENTS;
		while (destroyed < i)
			pause_cpu();
		failed += result != 0;
	}
	note("builds", i - 1);
	outcome("builds that a destroy has met", interrupted);
	outcome("domains that could not be destroyed", failed);
}
