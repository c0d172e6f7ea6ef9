// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses as many pages as there are for twice as many gfns; then, when it has made these zero again, for Xen to find them, the others. */
#include "hostile.h"

#include "pod.h"

static volatile uint64_t *word_of(unsigned long page)
{
	return (volatile uint64_t *)((POD_GFN + page) << 12) + page % 512;
}

static void use(unsigned long first)
{
	for (unsigned long page = first; page < first + POD_TARGET; page++) {
		mailbox->values[NOT_ZERO] += !!*word_of(page);
		*word_of(page) = ~page;
	}
	for (unsigned long page = first; page < first + POD_TARGET; page++)
		mailbox->values[WRONG_WORDS] += *word_of(page) != ~page;
}

static void guest(unsigned long cpu)
{
	if (cpu)
		return;
	use(0);
	reach(1);
	wait_go();
	for (unsigned long page = 0; page < POD_TARGET; page++)
		*word_of(page) = 0;
	use(POD_TARGET);
	reach(GUEST_ENDED);
}
