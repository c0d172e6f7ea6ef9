// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 2 MiB of a guest that writes are divided over the nodes and put together again, by each policy that keeps them, and while its writes
 * are logged: they are one page, where they should be, with the content that they had; and nothing else moves.
 */
#include <errno.h>
#include <stdint.h>

#include "bare.h"
#include "mailbox.h"
#include "watch.h"

GUEST_IMAGE(image, "verified.guest");

#define NODES 2
#define BLOCKS 4UL
#define SINGLES 32UL			/* behind these: never 2 MiB */
#define FIRST (4 * PAGES_2M)
#define PAGES (BLOCKS * PAGES_2M + SINGLES)
#define REPEATS 5			/* for pages in use, if only for the moment */
#define XMALLOC_KEEPS 16		/* pages, for the next time */

static domid_t domid;
static struct mailbox *mailbox;
static struct xen_numa_page was[SINGLES], found[SINGLES], list[PAGES_2M];

static void locate_singles(struct xen_numa_page *pages)
{
	for (unsigned long i = 0; i < SINGLES; i++)
		pages[i].gfn = FIRST + BLOCKS * PAGES_2M + i;
	locate_pages(domid, pages, SINGLES);
}

static bool singles_stayed(void)
{
	bool stayed = true;

	locate_singles(found);
	for (unsigned long i = 0; i < SINGLES; i++)
		stayed &= found[i].node == was[i].node && !found[i].order;
	return stayed;
}

static void divide_all(void)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
	for (unsigned int i = 0; i < REPEATS; i++)
		rebalance(domid);
	locate_singles(was);
}

/* Blocks that are one page, all of it on the node that @node says, or on any if that is negative. */
static unsigned int whole(int node)
{
	unsigned int blocks = 0;

	for (unsigned long block = 0; block < BLOCKS; block++) {
		unsigned int good = 0;

		for (unsigned long i = 0; i < PAGES_2M; i++)
			list[i].gfn = FIRST + block * PAGES_2M + i;
		locate_pages(domid, list, PAGES_2M);
		for (unsigned long i = 0; i < PAGES_2M; i++)
			good += list[i].order == ORDER_2M && list[i].node == (node < 0 ? list[0].node : (unsigned int)node);
		blocks += good == PAGES_2M;
	}
	return blocks;
}

static void compact_all(void)
{
	for (unsigned int i = 0; i < REPEATS && would_compact(domid); i++)
		compact(domid);
}

static unsigned long wrong_words(void)
{
	unsigned long wrong;

	stop_domain(domid);
	wrong = wrong_of_guest(mailbox);
	finish_creation(domid);
	return wrong;
}

static void create(void)
{
	domid = new_domain(64, GUEST_CPUS);
	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long block = 0; block < BLOCKS; block++)
		if (populate(domid, FIRST + block * PAGES_2M, ORDER_2M, 0) != 1)
			crash("there are no 2 MiB");
	for (unsigned long i = BLOCKS * PAGES_2M; i < PAGES; i++)
		if (populate(domid, FIRST + i, 0, i % NODES) != 1)
			crash("there is no memory");
	mailbox = start_verified(domid, FIRST, PAGES, 0);
	wait_rounds(domid, mailbox, 1);
}

static void by_each_policy(void)
{
	struct xen_domctl op = { .u.numa_policy.u.rebalance = { .nr = UINT32_MAX, .flags = XEN_NUMA_REBALANCE_COMPACT } };

	divide_all();
	promise("round-4k divides all", !superpages_of(domid));
	promise("and what it would divide again is refused", try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid) == -EDOM);

	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	promise("a dry run says how much", would_compact(domid) == BLOCKS * PAGES_2M && !superpages_of(domid));
	compact_all();
	promise("without a policy: 2 MiB are one page", whole(-1) == BLOCKS && superpages_of(domid) == BLOCKS);
	promise("without a policy: all else stays", singles_stayed());
	promise("and once is enough", !would_compact(domid) && !compact(domid));

	for (int node = 0; node < NODES; node++) {
		divide_all();
		set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 1 << node, NULL, 0);
		compact_all();
		promise(node ? "on node 1: 2 MiB are one page there" : "on node 0: 2 MiB are one page there", whole(node) == BLOCKS);
		promise(node ? "on node 1: all else stays" : "on node 0: all else stays", singles_stayed());
	}
}

/* What was written is another type of page than what was not: they may stay, but lose nothing. */
static void while_logged(void)
{
	divide_all();
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 0x3, NULL, 0);
	log_dirty(domid, true);
	compact(domid);
	wait_rounds(domid, mailbox, 1);
	compact(domid);
	note("2 MiB while writes are logged", superpages_of(domid));
	log_dirty(domid, false);
	compact_all();
	promise("after log-dirty mode: 2 MiB are one page", whole(-1) == BLOCKS);
}

void program(void)
{
	unsigned long before[NODES], had;
	long lost[NODES];

	for (unsigned int node = 0; node < NODES; node++)
		before[node] = free_pages(node, 0);
	create();
	had = total_pages(domid);
	by_each_policy();
	promise("nothing is lost by that", !wrong_words());
	while_logged();
	/* While it is divided and put together, it goes on writing. */
	for (unsigned int i = 0; i < 4; i++) {
		divide_all();
		set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
		compact(domid);
	}
	wait_rounds(domid, mailbox, 2);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	wait_guest(domid, GUEST_ENDED);
	promise("nor in the end", !wrong_words());
	promise("it has as many pages as before", total_pages(domid) == had);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
	await_free(before, lost, NODES, XMALLOC_KEEPS);
	note("pages less on node 0", lost[0]);
	note("pages less on node 1", lost[1]);
	promise("each node has the free memory that it had", lost[0] <= XMALLOC_KEEPS && lost[1] <= XMALLOC_KEEPS);
}
