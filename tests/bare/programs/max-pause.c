// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a guest writes while its pages are copied is not lost; and max_pause_us is kept: no batch stops writes for longer, or it is
 * counted, which an emulator whose threads wait for a CPU often is a reason for; what cannot move within the limit stays.
 */
#include "bare.h"

#include "mailbox.h"
#include "verified.h"

GUEST_IMAGE(image, "verified.guest");

#define SINGLE_GFN (PAGES_2M * 2)
#define SINGLES 400UL
#define LARGE_GFN (PAGES_2M * 4)
#define NEVER 10000000U		/* us: no batch takes so long */

static domid_t domid;
static unsigned int node;
static struct xen_domctl_numa_policy_stats last;

/* All goes to the other node.  Pages that have moved. */
static unsigned long move_all(uint32_t max_pause_us)
{
	node = !node;
	set_limited_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 1UL << node, max_pause_us);
	return rebalance(domid);
}

static struct xen_domctl_numa_policy_stats since(void)
{
	struct xen_domctl_numa_policy_stats now, result;

	get_stats(domid, &now);
	result = now;
	for (unsigned int i = 0; i < XEN_NUMA_MOVE_RESULTS; i++)
		result.pages[i] -= last.pages[i];
	result.batches -= last.batches;
	result.copied_again -= last.copied_again;
	last = now;
	return result;
}

void program(void)
{
	struct xen_domctl_numa_policy_stats stats;
	struct mailbox *mailbox;
	unsigned long movable, turns = 0, exceeded = 0;
	uint64_t pause;
	bool kept = true, moved_all = true;

	domid = new_domain(64, 2);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 1 << 0, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long i = 0; i < SINGLES; i++)
		if (populate(domid, SINGLE_GFN + i, 0, ANY_NODE) != 1)
			crash("there is no memory");
	if (populate(domid, LARGE_GFN, ORDER_2M, ANY_NODE) != 1)
		crash("there are no 2 MiB");
	mailbox = start_verified(domid, SINGLE_GFN, SINGLES, 1);
	wait_rounds(domid, mailbox, 2);
	movable = SINGLES + PAGES_2M;

	/* until writes were found out, and then some */
	do {
		moved_all &= move_all(0) >= movable;
		get_stats(domid, &stats);
	} while (++turns < 6 || !stats.copied_again);
	promise("without a limit all moves", moved_all);
	promise("that it was stopped is told", stats.pause_ns && stats.pause_ns <= stats.longest_ns && !stats.exceeded);
	note("pages copied again", stats.copied_again);
	note("longest pause, ns", stats.pause_ns);
	note("longest lock, ns", stats.longest_ns);
	pause = stats.pause_ns;
	since();

	promise("nothing moves within 1 us", !move_all(1));
	stats = since();
	promise("that is counted", stats.pages[XEN_NUMA_MOVE_LATE] >= movable);
	promise("and no write is stopped for it", !stats.pause_ns && !stats.exceeded);
	node = !node;

	promise("a limit that is long enough stops nothing", move_all(NEVER) >= movable);
	stats = since();
	promise("and is kept", stats.pause_ns && !stats.exceeded && !stats.pages[XEN_NUMA_MOVE_LATE]);

	/* Now what the emulator takes matters. */
	for (unsigned int part = 2; part <= 16; part *= 2) {
		uint32_t limit = pause / 1000 / part;
		unsigned long moved = move_all(limit);

		stats = since();
		kept &= stats.exceeded || stats.pause_ns <= limit * 1000UL;
		kept &= moved + stats.pages[XEN_NUMA_MOVE_LATE] >= movable;
		exceeded += stats.exceeded;
		if (part == 4) {
			note("limit, us", limit);
			note("longest pause with it, ns", stats.pause_ns);
			note("batches with it", stats.batches);
			note("pages moved with it", moved);
		}
		/* whatever has stayed */
		move_all(0);
		move_all(0);
		since();
	}
	promise("a limit is kept, or that it was not is counted; what has not moved, too", kept);
	note("limits not kept", exceeded);

	wait_rounds(domid, mailbox, 2);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	wait_guest(domid, GUEST_ENDED);
	note("rounds", mailbox->values[VERIFIED_ROUNDS]);
	promise("nothing that was written is lost", !wrong_of_guest(mailbox) && mailbox->values[VERIFIED_ROUNDS]);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
}
