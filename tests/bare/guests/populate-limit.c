// SPDX-License-Identifier: GPL-2.0-or-later
/* Both vCPUs ask for an extent at once, where the limit leaves one and a half. */
#include "hostile.h"

#define ROUNDS 20
#define ORDER 6			/* short to release, page by page, and long to populate */
#define PAGES (1UL << ORDER)
#define PLACE 0x401UL		/* not aligned, so not in one piece */
#define PLACES 0x400UL		/* a vCPU */
#define SPINS 2000

static uint32_t arrived;
static long got[GUEST_CPUS];

static void meet(uint32_t times)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; __atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < times * GUEST_CPUS; i++) {
		if (i < SPINS)
			pause_cpu();
		else	/* to the other vCPU, if it is that which waits for this CPU */
			hypercall(__HYPERVISOR_sched_op, SCHEDOP_yield, 0, 0, 0);
	}
}

static void release(unsigned long gfn)
{
	static xen_pfn_t pages_of[GUEST_CPUS][PAGES];
	xen_pfn_t *pages = pages_of[gfn != PLACE];
	struct xen_memory_reservation reservation = { .nr_extents = PAGES, .domid = DOMID_SELF };

	for (unsigned long i = 0; i < PAGES; i++)
		pages[i] = gfn + i;
	set_xen_guest_handle(reservation.extent_start, pages);
	memory_op(XENMEM_decrease_reservation, &reservation);
}

static void guest(unsigned long cpu)
{
	unsigned long gfn = PLACE + PLACES * cpu, both = 0, none = 0;
	uint32_t meetings = 0;

	if (!cpu)
		reach(1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		meet(++meetings);
		got[cpu] = populate(gfn, ORDER);
		meet(++meetings);
		both += got[0] == 1 && got[1] == 1;
		none += got[0] != 1 && got[1] != 1;
		/* before the other one's is overwritten */
		meet(++meetings);
		if (got[cpu] == 1)
			release(gfn);
	}
	meet(++meetings);
	if (cpu)
		return;
	mailbox->values[0] = both;
	mailbox->values[1] = none;
	reach(GUEST_ENDED);
}
