// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest's memory goes from node to node, page by page and by each policy, while it writes, and while its writes are logged: it is where
 * it was said to be, nothing but that changes, and each page that is written is told, and no other one.
 */
#include <stdint.h>

#include "bare.h"
#include "mailbox.h"
#include "random.h"
#include "watch.h"

GUEST_IMAGE(image, "verified.guest");

#define NODES 2
#define WINDOW 0
#define WORDS 512
#define GUEST_WORDS 2			/* of a page that it writes */
#define SINGLES 64UL			/* behind 2 MiB */
#define AREA_PAGES (PAGES_2M + SINGLES)
/* what the guest writes, and what it leaves alone, a GiB above: another turn of round-1g */
#define WRITTEN (4 * PAGES_2M)
#define IDLE (PAGES_1G + 2 * PAGES_2M)
#define LAST_GFN (IDLE + AREA_PAGES)
#define MOVES 80
#define LOGGED_MOVES 20			/* twice */
#define REPEATS 5			/* for pages in use, if only for the moment */
#define XMALLOC_KEEPS 16		/* pages, for the next time */

static const unsigned long areas[] = { WRITTEN, IDLE };
static const struct {
	uint32_t policy;
	unsigned int grain;
	bool first, second;		/* of the nodes, which are homes */
	const char *placed, *whole;
} ways[] = {
	{ XEN_NUMA_POLICY_ROUND_4K, 0, true, true, "round-4k: pages are where it says", NULL },
	{ XEN_NUMA_POLICY_ROUND_2M, 9, true, true, "round-2m: pages are where it says", "round-2m: 2 MiB are whole again" },
	{ XEN_NUMA_POLICY_ROUND_4K, 0, true, true, "round-4k once more: pages are where it says", NULL },
	{ XEN_NUMA_POLICY_ROUND_1G, 18, true, true, "round-1g: pages are where it says", "round-1g: 2 MiB are whole again" },
	{ XEN_NUMA_POLICY_ROUND_2M, 9, false, true, "one node: pages are where it says", "one node: 2 MiB stay whole" },
};
#define WAYS (sizeof(ways) / sizeof(*ways))

static uint8_t dirty[(LAST_GFN + 7) / 8];
static struct random source;
static domid_t domid;
static struct mailbox *mailbox;
static bool logged;
static unsigned long moved[2];		/* single pages, and times 2 MiB */

static uint64_t written_to(unsigned long gfn, unsigned int word)
{
	return gfn << 16 | word;
}

static unsigned int first_word(unsigned long area)
{
	return area == WRITTEN ? GUEST_WORDS : 0;
}

static void write_all(unsigned long area)
{
	for (unsigned long gfn = area; gfn < area + AREA_PAGES; gfn++) {
		volatile uint64_t *words = map_page(WINDOW, domid, gfn);

		for (unsigned int i = 0; i < WORDS; i++)
			words[i] = i < first_word(area) ? 0 : written_to(gfn, i);
	}
	unmap_page(WINDOW);
}

static unsigned long wrong_words(void)
{
	unsigned long wrong;

	/* it would but take time of an emulator */
	stop_domain(domid);
	wrong = wrong_of_guest(mailbox);
	for (unsigned int a = 0; a < 2; a++)
		for (unsigned long gfn = areas[a]; gfn < areas[a] + AREA_PAGES; gfn++) {
			const volatile uint64_t *words = map_page(WINDOW, domid, gfn);

			for (unsigned int i = first_word(areas[a]); i < WORDS; i++)
				wrong += words[i] != written_to(gfn, i);
		}
	unmap_page(WINDOW);
	finish_creation(domid);
	return wrong;
}

static void log_writes(bool on)
{
	log_dirty(domid, on);
	logged = on;
}

static unsigned long dirty_pages(unsigned long area)
{
	unsigned long pages = 0;

	for (unsigned long gfn = area; gfn < area + AREA_PAGES; gfn++)
		pages += dirty[gfn / 8] >> gfn % 8 & 1;
	return pages;
}

static bool is_on(unsigned long gfn, unsigned int node)
{
	return node_of_page(domid, gfn) == node;
}

/* Pages, and 2 MiB at a time, which make a superpage of what is none; all of it was moved that could be. */
static bool move_some(unsigned int moves)
{
	bool good = true;

	while (moves--) {
		unsigned long area = areas[below(&source, 2)], gfn = area + below(&source, AREA_PAGES);
		unsigned int order = one_in(&source, 8) ? ORDER_2M : 0, node = below(&source, NODES), result;

		if (order)
			gfn = area;
		result = move_extent(domid, gfn, order, node);
		if (result == XEN_NUMA_MOVE_DONE)
			moved[!!order]++;
		/* while writes are logged, pages that were written and others are not alike */
		else if (result == XEN_NUMA_MOVE_UNMOVABLE && order && logged)
			continue;
		else if (result != XEN_NUMA_MOVE_THERE)
			good = false;
		good &= is_on(gfn, node) && (!order || is_on(gfn + PAGES_2M - 1, node));
	}
	return good;
}

static unsigned int home(unsigned int way, unsigned long gfn)
{
	return ways[way].first && ways[way].second ? gfn >> ways[way].grain & 1 : ways[way].second;
}

static unsigned long elsewhere(unsigned int way, unsigned long first, unsigned long pages)
{
	static struct xen_numa_page list[AREA_PAGES];
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < pages; i++)
		list[i].gfn = first + i;
	locate_pages(domid, list, pages);
	for (unsigned long i = 0; i < pages; i++)
		wrong += list[i].node != home(way, list[i].gfn);
	return wrong;
}

/* The last of the guest's own pages is the mailbox, which is in use. */
static unsigned long all_elsewhere(unsigned int way)
{
	return elsewhere(way, WRITTEN, AREA_PAGES) + elsewhere(way, IDLE, AREA_PAGES) +
		elsewhere(way, GUEST_IMAGE_GFN, GUEST_OWN_PAGES - 1);
}

static bool placed(unsigned int way)
{
	set_policy(domid, ways[way].policy, ways[way].first << 0 | ways[way].second << 1, NULL, 0);
	for (unsigned int i = 0; i < REPEATS; i++) {
		rebalance(domid);
		if (!all_elsewhere(way))
			return true;
	}
	return false;
}

static void create(void)
{
	domid = new_domain(64, GUEST_CPUS);
	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned int a = 0; a < 2; a++) {
		if (populate(domid, areas[a], ORDER_2M, 0) != 1)
			crash("there are no 2 MiB");
		for (unsigned long i = PAGES_2M; i < AREA_PAGES; i++)
			if (populate(domid, areas[a] + i, 0, 0) != 1)
				crash("there is no memory");
		write_all(areas[a]);
	}
	mailbox = start_verified(domid, WRITTEN, AREA_PAGES, 0);
	wait_rounds(domid, mailbox, 1);
}

static void move_while_logged(void)
{
	bool good;

	log_writes(true);
	good = move_some(LOGGED_MOVES);
	take_dirty(domid, dirty, LAST_GFN);
	good &= move_some(LOGGED_MOVES);
	promise("pages move while writes are logged", good);
	wait_rounds(domid, mailbox, 2);
	take_dirty(domid, dirty, LAST_GFN);
	promise("all that is written is told", dirty_pages(WRITTEN) == AREA_PAGES);
	promise("and nothing that is not", !dirty_pages(IDLE));

	/* What moves between two writes may still not be written untold. */
	stop_domain(domid);
	take_dirty(domid, dirty, LAST_GFN);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
	rebalance(domid);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 1 << 1, NULL, 0);
	rebalance(domid);
	take_dirty(domid, dirty, LAST_GFN);
	promise("to move is not to write", !dirty_pages(WRITTEN) && !dirty_pages(IDLE));
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
	rebalance(domid);
	finish_creation(domid);
	wait_rounds(domid, mailbox, 2);
	take_dirty(domid, dirty, LAST_GFN);
	promise("what was moved and then written is told", dirty_pages(WRITTEN) == AREA_PAGES);
	promise("and only that", !dirty_pages(IDLE));
}

/* Entries that wait to be recalculated, for either reason, are met by the second and the fourth. */
static void go_all_ways(void)
{
	for (unsigned int way = 0; way < WAYS; way++) {
		if (way == 2)
			log_writes(true);
		if (way == 3)
			log_writes(false);
		promise(ways[way].placed, placed(way));
		if (ways[way].whole)
			promise(ways[way].whole, superpages_of(domid) == 2);
		else if (way == 0)
			promise("round-4k divides all that is large", !superpages_of(domid));
	}
}

void program(void)
{
	unsigned long before[NODES], had;
	long lost[NODES];

	source.state = number_of("seed", 1);
	for (unsigned int node = 0; node < NODES; node++)
		before[node] = free_pages(node, 0);
	create();
	had = total_pages(domid);
	promise("pages move, and are where they were moved to", move_some(MOVES));
	promise("nothing is lost by that", !wrong_words());
	move_while_logged();
	log_writes(false);
	promise("pages and 2 MiB did move", moved[0] && moved[1]);
	promise("nor while writes are logged", !wrong_words());
	go_all_ways();
	wait_rounds(domid, mailbox, 2);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	wait_guest(domid, GUEST_ENDED);
	promise("nor by any policy", !wrong_words());
	promise("it has as many pages as before", total_pages(domid) == had);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
	await_free(before, lost, NODES, XMALLOC_KEEPS);
	note("pages less on node 0", lost[0]);
	note("pages less on node 1", lost[1]);
	promise("each node has the free memory that it had", lost[0] <= XMALLOC_KEEPS && lost[1] <= XMALLOC_KEEPS);
}
