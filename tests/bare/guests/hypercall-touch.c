// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With first-touch: Xen writes what a hypercall returns to 2 MiB that nobody has touched, while the other vCPU writes to each of
 * their pages, or has them released and writes then.
 */
#include <stdbool.h>
#include <stdint.h>

#include <xen/version.h>

#include "hostile.h"

#include "hypercall-touch.h"

#define PAGE(gfn) ((volatile uint64_t *)((gfn) << 12))
#define WORD 0x5eed000000000001UL
#define ANSWER 8		/* word of a page */
#define PAGE_WORDS 512

static uint32_t arrived, answered;

static void meet(uint32_t times)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < GUEST_CPUS * times)
		pause_cpu();
}

static volatile uint64_t *answer_of(unsigned long extent)
{
	return PAGE(FIRST_GFN + extent * PAGES_2M + extent * 37 % PAGES_2M) + ANSWER;
}

static void release(unsigned long extent)
{
	uint64_t event = (FIRST_GFN + extent * PAGES_2M) | 9UL << XEN_PAGE_EVENT_ORDER_SHIFT | XEN_PAGE_EVENT_RELEASED;
	struct xen_page_events events = { .nr = 1 };

	set_xen_guest_handle(events.events, &event);
	memory_op(XENMEM_page_events, &events);
}

/* Pages that Xen has not cleared yet when they are touched again. */
static void leave_garbage(unsigned long extent)
{
	volatile uint64_t *words = PAGE(FIRST_GFN + extent * PAGES_2M);

	for (unsigned long i = 0; i < PAGES_2M * PAGE_WORDS; i++)
		words[i] = ~0UL;
	release(extent);
}

/* Looks, until the hypercall has returned and then once more, for what it has written itself. */
static void write(unsigned long extent)
{
	bool last = false;

	if (IS_RELEASED(extent))
		release(extent);
	for (uint64_t round = 1;; round++) {
		for (unsigned long i = 0; i < PAGES_2M; i++) {
			volatile uint64_t *page = PAGE(FIRST_GFN + extent * PAGES_2M + i);

			mailbox->values[LOST] += *page != round - 1;
			*page = last ? WORD + i : round;
		}
		if (last)
			break;
		last = __atomic_load_n(&answered, __ATOMIC_SEQ_CST) > extent;
	}
}

static void verify(unsigned long extent)
{
	for (unsigned long i = 0; i < PAGES_2M; i++) {
		volatile uint64_t *page = PAGE(FIRST_GFN + extent * PAGES_2M + i);

		mailbox->values[LOST] += page[0] != (IS_WRITTEN(extent) ? WORD + i : 0);
		/* as it came, but for an answer's page */
		mailbox->values[NOT_CLEARED] += page[1] || page[511] || (page[ANSWER] && &page[ANSWER] != answer_of(extent));
	}
	mailbox->values[ANSWERS] += *answer_of(extent) != 0;
}

static void guest(unsigned long cpu)
{
	uint32_t times = 0;

	if (!cpu) {
		for (unsigned long extent = 0; extent < EXTENTS; extent++)
			leave_garbage(extent);
		reach(1);
		wait_go();
	}
	for (unsigned long extent = 0; extent < EXTENTS; extent++) {
		meet(++times);
		if (!cpu) {
			hypercall(__HYPERVISOR_xen_version, XENVER_extraversion, (uintptr_t)answer_of(extent), 0, 0);
			__atomic_store_n(&answered, extent + 1, __ATOMIC_SEQ_CST);
		} else if (IS_WRITTEN(extent)) {
			write(extent);
		}
		meet(++times);
		if (!cpu)
			verify(extent);
	}
	if (!cpu)
		reach(GUEST_ENDED);
}
