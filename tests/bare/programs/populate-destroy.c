// SPDX-License-Identifier: GPL-2.0-or-later
/* A domain is destroyed by one CPU while another one populates it, at any moment of that. */
#include "bare.h"

#include "hypercall.h"

#define INTERRUPTED 10
#define EXTENTS 24
/* Needs another table in its middle, which a dying domain does not get. */
#define GFN(n) (PAGES_2M * (n) + PAGES_2M / 2)

static volatile unsigned long round, extents, ready, destroyed;
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
		volatile unsigned long turns = 1, i;

		while (round < mine)
			pause_cpu();
		/* as long as an extent takes, whatever the clock says */
		while (!extents)
			turns++;
		turns = random(turns);
		ready = mine;
		for (i = 0; i < turns; i++)
			;
		result = destroy_domain(domid);
		destroyed = mine;
	}
}

void program(void)
{
	unsigned long failed = 0, interrupted = 0, i;

	start_second_cpu(destroy_each);
	for (i = 1; interrupted < INTERRUPTED; i++) {
		unsigned long n = 0;

		domid = new_domain(64, 1);
		extents = 0;
		round = i;
		while (n < EXTENTS && populate(domid, GFN(n), ORDER_2M, ANY_NODE) == 1) {
			extents = ++n;
			/* else it may be over before the other CPU has looked */
			while (ready < i)
				pause_cpu();
		}
		interrupted += n < EXTENTS;
		while (destroyed < i)
			pause_cpu();
		failed += result != 0;
	}
	note("builds", i - 1);
	outcome("builds that a destroy has met", interrupted);
	outcome("domains that could not be destroyed", failed);
}
