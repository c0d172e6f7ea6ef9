/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole of a PVH guest's runtime: it begins in 64-bit mode, with its stack, an address being a guest-physical one. */
#ifndef BARE_HOSTILE_H
#define BARE_HOSTILE_H

#include <stdint.h>

#include <xen/memory.h>
#include <xen/sched.h>

#include "hypercall.h"
#include "mailbox.h"

#define CPUID_HYPERCALL_PAGE 0x40000002		/* xen/include/public/arch-x86/cpuid.h */
#define PAGES_2M (1UL << 9)
#define PAGES_1G (1UL << 18)

static struct mailbox *const mailbox = (struct mailbox *)(GUEST_MAILBOX_GFN << 12);

/* Each guest has this; all its vCPUs come here, and none goes on when it returns. */
static void guest(unsigned long cpu);

static inline void reach(uint32_t state)
{
	__atomic_store_n(&mailbox->state, state, __ATOMIC_SEQ_CST);
}

static inline void wait_go(void)
{
	while (!__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST))
		pause_cpu();
}

static long reservation(unsigned long op, unsigned long gfn, unsigned int order)
{
	struct xen_memory_reservation reservation = { .nr_extents = 1, .extent_order = order, .domid = DOMID_SELF };
	xen_pfn_t first = gfn;

	set_xen_guest_handle(reservation.extent_start, &first);
	return memory_op(op, &reservation);
}

static inline long populate(unsigned long gfn, unsigned int order)
{
	return reservation(XENMEM_populate_physmap, gfn, order);
}

static inline long release_page(unsigned long gfn)
{
	return reservation(XENMEM_decrease_reservation, gfn, 0);
}

__attribute__((section(".entry"), used, noreturn))
static void entry(unsigned long cpu)
{
	static uint32_t have_hypercalls;

	if (!cpu) {
		uint32_t pages = CPUID_HYPERCALL_PAGE, msr, features[2];

		__asm__("cpuid" : "+a"(pages), "=b"(msr), "=c"(features[0]), "=d"(features[1]));
		__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)(uintptr_t)hypercall_page), "d"(0) : "memory");
		__atomic_store_n(&have_hypercalls, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&have_hypercalls, __ATOMIC_ACQUIRE))
		pause_cpu();
	guest(cpu);
	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_block, 0, 0, 0);
}

#endif
