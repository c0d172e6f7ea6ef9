// SPDX-License-Identifier: GPL-2.0-or-later
/* Verifies each word that it has, writes another one, and looks how long it was kept from that. */
#include "hostile.h"

#include "campaign.h"

#define PAGE_WORDS 512
#define LOOK 64			/* words between two looks at the clock */

static struct campaign *const campaign = (struct campaign *)(GUEST_MAILBOX_GFN << 12);

/* Of no other place, pass or victim. */
static uint64_t word(unsigned long place, uint64_t pass)
{
	return (campaign->seed + place) * 0x9e3779b97f4a7c15 ^ pass * 0xd1b54a32d192ed03;
}

static void guest(unsigned long cpu)
{
	volatile uint64_t *words = (volatile uint64_t *)(ARENA_GFN << 12);
	uint64_t last, now;

	if (cpu)
		return;
	for (unsigned long i = 0; i < VICTIM_PAGES * PAGE_WORDS; i++)
		words[i] = word(i, 0);
	reach(1);
	last = cycles();
	for (uint64_t pass = 0;; pass++) {
		for (unsigned long i = 0; i < VICTIM_PAGES * PAGE_WORDS; i++) {
			if (words[i] != word(i, pass))
				campaign->wrong++;
			words[i] = word(i, pass + 1);
			if (i % LOOK)
				continue;
			now = cycles();
			if (now - last > campaign->longest)
				campaign->longest = now - last;
			last = now;
		}
		__atomic_store_n(&campaign->passes, pass + 1, __ATOMIC_RELEASE);
	}
}
