// SPDX-License-Identifier: GPL-2.0-or-later
/* Two vCPUs write to all pages that they are told of, and read what they and the other one have written, until they are told to end. */
#include "hostile.h"

#include "verified.h"

#define FIRST (mailbox->values[VERIFIED_FIRST])
#define PAGES (mailbox->values[VERIFIED_PAGES])
#define WRONG (&mailbox->values[VERIFIED_WRONG])		/* a vCPU */
#define ROUNDS (&mailbox->values[VERIFIED_ROUNDS])

static void guest(unsigned long cpu)
{
	static uint32_t ended;
	uint64_t round = 0;

	while (!__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST)) {
		for (uint64_t i = 0; i < PAGES; i++) {
			volatile uint64_t *page = (volatile uint64_t *)((FIRST + i) << 12);
			uint64_t other = page[!cpu];

			WRONG[cpu] += page[cpu] != round;
			page[cpu] = round + 1;
			/* the other one's grow, wherever it writes them */
			WRONG[cpu] += page[!cpu] < other || page[cpu] != round + 1;
		}
		round++;
		__atomic_store_n(&ROUNDS[cpu], round, __ATOMIC_SEQ_CST);
	}
	if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == GUEST_CPUS)
		reach(GUEST_ENDED);
}
