// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads pages and writes to others, again and again, and counts how often: what it reads it never writes, nor the other way round. */
#include "hostile.h"
#include "accessed.h"

static void read_pages(unsigned long gfn, unsigned long step, unsigned long end)
{
	for (; gfn < end; gfn += step)
		(void)*(const volatile uint64_t *)(gfn << 12);
}

static void write_pages(unsigned long gfn, unsigned long step, unsigned long end)
{
	for (; gfn < end; gfn += step)
		*(volatile uint64_t *)(gfn << 12) = gfn;
}

static void guest(unsigned long cpu)
{
	const unsigned long mine = SINGLES * cpu;
	static uint32_t ended;

	/* No interrupt comes, but from a guest that allows none Bochs keeps the host's, too. */
	__asm__ volatile("sti");
	for (uint64_t passes = 1; !__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST); passes++) {
		read_pages(READ_GFN + mine, 1, READ_GFN + mine + SINGLES);
		write_pages(WRITTEN_GFN + mine, 1, WRITTEN_GFN + mine + SINGLES);
		if (cpu == LARGE_READ_BY)
			read_pages(LARGE_READ_GFN, LARGE_STEP, LARGE_READ_GFN + PAGES_2M);
		if (cpu == LARGE_WRITTEN_BY)
			write_pages(LARGE_WRITTEN_GFN, LARGE_STEP, LARGE_WRITTEN_GFN + PAGES_2M);
		__atomic_store_n(&mailbox->values[cpu], passes, __ATOMIC_SEQ_CST);
	}
	if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == GUEST_CPUS)
		reach(GUEST_ENDED);
}
