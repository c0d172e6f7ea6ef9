// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it says of its pages is wrong in any way.  Both vCPUs flood Xen with full batches, of pages that they go on using; then they
 * talk nonsense; at last the first one says that all memory of theirs is free, what it runs in included.
 */
#include <stdbool.h>

#include "hostile.h"

#include "liar.h"
#include "random.h"

static uint64_t events[GUEST_CPUS][XEN_PAGE_EVENTS_MAX];
static uint32_t arrived[LIES];

static bool tell(unsigned long cpu, unsigned int nr)
{
	struct xen_page_events these = { .nr = nr };

	set_xen_guest_handle(these.events, events[cpu]);
	return !memory_op(XENMEM_page_events, &these);
}

static void use(unsigned long gfn)
{
	*(volatile uint64_t *)(gfn << 12) = gfn;
}

static void flood(unsigned long cpu, struct random *random)
{
	for (unsigned int i = 0; i < XEN_PAGE_EVENTS_MAX; i++)
		events[cpu][i] = (ARENA_GFN + below(random, ARENA_PAGES)) | XEN_PAGE_EVENT_RELEASED;
	if (tell(cpu, XEN_PAGE_EVENTS_MAX))
		__atomic_add_fetch(&mailbox->values[TOLD], XEN_PAGE_EVENTS_MAX, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < XEN_PAGE_EVENTS_MAX; i++)
		use(events[cpu][i] & XEN_PAGE_EVENT_GFN_MASK);
}

static void talk_nonsense(unsigned long cpu, struct random *random)
{
	/* half of it is sense by the looks of it, but of pages that were never there */
	for (unsigned int i = 0; i < XEN_PAGE_EVENTS_MAX; i++)
		events[cpu][i] = one_in(random, 2) ? any(random)
						   : (any(random) & XEN_PAGE_EVENT_GFN_MASK) | XEN_PAGE_EVENT_RELEASED;
	if (!tell(cpu, XEN_PAGE_EVENTS_MAX))
		__atomic_add_fetch(&mailbox->values[REFUSED], 1, __ATOMIC_SEQ_CST);
}

static void lie(void)
{
	unsigned int nr = 0;

	/* Xen goes by gfn: a call that is preempted behind what it runs in is not gone on with */
	for (unsigned long i = 0; i < GUEST_OWN_PAGES; i++)
		events[0][nr++] = (GUEST_IMAGE_GFN + i) | XEN_PAGE_EVENT_RELEASED;
	for (unsigned long i = 0; i < ARENA_PAGES; i += PAGES_2M)
		events[0][nr++] = (ARENA_GFN + i) | 9UL << XEN_PAGE_EVENT_ORDER_SHIFT | XEN_PAGE_EVENT_RELEASED;
	tell(0, nr);
}

static void meet(uint32_t state)
{
	if (__atomic_add_fetch(&arrived[state - 1], 1, __ATOMIC_SEQ_CST) == GUEST_CPUS)
		reach(state);
	while (__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST) < state)
		pause_cpu();
}

static void guest(unsigned long cpu)
{
	struct random random = { mailbox->values[SEED] + cpu };

	for (uint64_t i = 0; i < mailbox->values[BATCHES]; i++)
		flood(cpu, &random);
	meet(FLOODED);
	for (uint64_t i = 0; i < mailbox->values[BATCHES]; i++)
		talk_nonsense(cpu, &random);
	meet(TALKED);
	if (!cpu)
		lie();
	for (;;)
		use(ARENA_GFN + below(&random, ARENA_PAGES));
}
