// SPDX-License-Identifier: GPL-2.0-or-later
/* With first-touch: uses up the tables of its p2m, and touches what can no longer be mapped without one. */
#include "hostile.h"

#define UNTOUCHED (128UL << 8)	/* gfn of 2 MiB */
#define WORD 0x5eed5eed5eedUL

static void guest(unsigned long cpu)
{
	volatile uint64_t *word = (volatile uint64_t *)((UNTOUCHED + 5) << 12);
	unsigned long pages = 0;

	if (cpu)
		return;
	mailbox->values[0] = populate(UNTOUCHED, 9);
	reach(1);
	while (populate(PAGES_1G * (pages + 1), 0) == 1)
		pages++;
	mailbox->values[1] = pages;
	reach(2);
	wait_go();
	*word = WORD;
	mailbox->values[2] = *word == WORD;
	reach(GUEST_ENDED);
}
