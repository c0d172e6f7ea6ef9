// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes to a page, and makes it zero again when that was sent; then it touches others, for which Xen looks for pages that are zero. */
#include "hostile.h"

#include "pod-migrate.h"

static volatile uint64_t *word_of(unsigned long page)
{
	return (volatile uint64_t *)((POD_GFN + page) << 12);
}

static void guest(unsigned long cpu)
{
	if (cpu)
		return;
	*word_of(0) = WORD;
	reach(1);
	wait_go();
	*word_of(0) = 0;
	for (unsigned long page = PAGES_2M; page < PAGES_2M + OTHERS; page++)
		*word_of(page) = page;
	reach(GUEST_ENDED);
}
