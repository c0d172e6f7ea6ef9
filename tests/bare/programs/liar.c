// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest whose words about its pages are wrong in any way hurts itself alone, and gives all that it had back.  Words: batches=, seed=. */
#include <stdint.h>

#include "bare.h"
#include "liar.h"
#include "mailbox.h"

#define NODES 2
#define GUEST_MIB 12
#define WITNESS_PAGES PAGES_2M
#define WINDOW 0
#define EVENTS_OF_A_BATCH 1024UL
#define CPUS 2UL
#define KEPT 2			/* pages, of xmalloc(): stock Xen loses a sched_unit with each domain of two vCPUs */

GUEST_IMAGE(image, "liar.guest");

static domid_t create_liar(unsigned long batches)
{
	domid_t domid = new_domain(GUEST_MIB, CPUS);
	struct mailbox *mailbox;

	load_guest(domid, image, image_end);
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, 3, NULL, 0);
	for (unsigned long i = 0; i < ARENA_PAGES; i += PAGES_2M)
		if (populate(domid, ARENA_GFN + i, ORDER_2M, ANY_NODE) != 1)
			die_of("d%d has no arena", domid);
	mailbox = mailbox_of(domid);
	mailbox->values[BATCHES] = batches;
	mailbox->values[SEED] = number_of("seed", 1);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		pin_vcpu(domid, cpu, cpu);
	start_guest(domid, CPUS);
	return domid;
}

static void let_go_on(domid_t domid, uint32_t state)
{
	__atomic_store_n(&mailbox_of(domid)->go, state, __ATOMIC_SEQ_CST);
}

static domid_t create_witness(void)
{
	domid_t domid = new_domain(8, 1);

	if (populate(domid, 0, ORDER_2M, ANY_NODE) != 1)
		crash("there is no memory for a witness");
	for (unsigned long gfn = 0; gfn < WITNESS_PAGES; gfn++)
		*(volatile uint64_t *)map_page(WINDOW, domid, gfn) = ~gfn;
	unmap_page(WINDOW);
	return domid;
}

static unsigned long wrong_words(domid_t domid)
{
	unsigned long wrong = 0;

	for (unsigned long gfn = 0; gfn < WITNESS_PAGES; gfn++)
		wrong += *(volatile uint64_t *)map_page(WINDOW, domid, gfn) != ~gfn;
	unmap_page(WINDOW);
	return wrong;
}

static void live(unsigned long batches, bool tell)
{
	struct xen_domctl_numa_policy_touches touches;
	unsigned long events = CPUS * batches * EVENTS_OF_A_BATCH, released;
	domid_t domid = create_liar(batches);

	if (!wait_guest(domid, FLOODED))
		crash("the guest does not survive what it could");
	get_touches(domid, &touches);
	if (tell) {
		promise("each batch is taken", mailbox_of(domid)->values[TOLD] == events && touches.events == events);
		promise("a flood makes sense", !touches.invalid);
		/* of those that a batch names twice the newest counts */
		promise("pages are released", touches.released > events / 4 && touches.released <= events);
		note("pages released", touches.released);
	}
	let_go_on(domid, FLOODED);
	if (!wait_guest(domid, TALKED))
		crash("nonsense hurts");
	released = touches.released;
	get_touches(domid, &touches);
	if (tell) {
		promise("nonsense is no error", !mailbox_of(domid)->values[REFUSED]);
		promise("it is counted", touches.invalid > events / 4 && touches.events == 2 * events);
		promise("it releases nothing", touches.released == released);
	}
	let_go_on(domid, TALKED);
	unmap_page(MAILBOX_WINDOW);
	/* in what was its program are zeroes, which no vCPU gets far with */
	while (domain_lives(domid))
		yield();
	get_touches(domid, &touches);
	released = touches.released - released;
	if (tell) {
		note("pages released by a lie", released);
		promise("who lies loses what it runs in", released >= GUEST_OWN_PAGES);
	}
	if (destroy_domain(domid))
		crash("who has lied cannot be destroyed");
}

void program(void)
{
	unsigned long batches = number_of("batches", 10), before[NODES];
	long missing[NODES];
	domid_t witness = create_witness();

	/* what Xen takes once, and keeps */
	live(1, false);
	await_rest(before, NODES);
	live(batches, true);
	await_free(before, missing, NODES, KEPT / NODES);
	note("pages missing of node 0", missing[0]);
	note("pages missing of node 1", missing[1]);
	promise("all memory comes back", missing[0] + missing[1] <= KEPT);
	promise("no word of the witness is wrong", !wrong_words(witness));
	promise("it can be destroyed", !destroy_domain(witness));
}
