// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each vCPU gives a page of its own back, takes one in its place, or tells Xen that it is free, writes to it, and looks whether another
 * one of its pages has what it has written there, until it is told to end.  Then all pages are there.
 */
#include "hostile.h"

#include "give-take.h"
#include "random.h"

#define RARE 1024		/* steps: who gives a page back waits for the p2m, and writes nothing meanwhile */

static uint64_t written[TAKEN_PAGES];

static volatile uint64_t *word_of(unsigned long page)
{
	return (volatile uint64_t *)((TAKEN_GFN + page) << 12) + page % 512;
}

static void write_to(unsigned long page, struct random *random)
{
	written[page] = any(random);
	*word_of(page) = written[page];
}

static void give_back(unsigned long page, unsigned long cpu)
{
	/* Xen may not have done it; to populate where there is a page gives it another one, and loses none. */
	if (release_page(TAKEN_GFN + page) != 1)
		return;
	mailbox->values[GIVEN + cpu]++;
	while (populate(TAKEN_GFN + page, 0) != 1)
		pause_cpu();
}

/* Refused, unless its policy is first-touch. */
static void tell_free(unsigned long page, unsigned long cpu)
{
	uint64_t event = (TAKEN_GFN + page) | XEN_PAGE_EVENT_RELEASED;
	struct xen_page_events events = { .nr = 1 };

	set_xen_guest_handle(events.events, &event);
	mailbox->values[RELEASED + cpu] += !memory_op(XENMEM_page_events, &events);
}

static unsigned long own_page(unsigned long cpu, struct random *random)
{
	return below(random, TAKEN_PAGES / GUEST_CPUS) * GUEST_CPUS + cpu;
}

static void guest(unsigned long cpu)
{
	struct random random = { mailbox->values[SEED] + cpu };
	static uint32_t ended;

	for (unsigned long page = cpu; page < TAKEN_PAGES; page += GUEST_CPUS)
		write_to(page, &random);
	if (!cpu)
		reach(1);
	while (!__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST)) {
		unsigned long page = own_page(cpu, &random);

		mailbox->values[WRONG_WORDS + cpu] += *word_of(page) != written[page];
		if (one_in(&random, RARE)) {
			if (one_in(&random, 2))
				give_back(page, cpu);
			else
				tell_free(page, cpu);
		}
		write_to(page, &random);
	}
	for (unsigned long page = cpu; page < TAKEN_PAGES; page += GUEST_CPUS)
		mailbox->values[WRONG_WORDS + cpu] += *word_of(page) != written[page];
	if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == GUEST_CPUS)
		reach(GUEST_ENDED);
}
