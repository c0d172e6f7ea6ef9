// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses all pages that it has; then it makes the last ones zero again, and uses others instead. */
#include "hostile.h"

#include "pod-zero.h"

static void write(unsigned long block, unsigned long blocks, uint64_t value)
{
	for (unsigned long page = block * PAGES_2M; page < (block + blocks) * PAGES_2M; page++)
		*(volatile uint64_t *)((POD_GFN + page) << 12) = value;
}

static void guest(unsigned long cpu)
{
	if (cpu)
		return;
	write(FULL_BLOCK, FULL_BLOCKS, 1);
	write(ZERO_BLOCK, ZERO_BLOCKS, 1);
	reach(1);
	wait_go();
	write(ZERO_BLOCK, ZERO_BLOCKS, 0);
	write(LATE_BLOCK, ZERO_BLOCKS, 1);
	reach(GUEST_ENDED);
}
