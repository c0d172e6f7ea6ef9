// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-mover DOMID MIB PAGES SEED [alone]: moves pages of a domain of that size back and forth, the same ways for the same
 * seed, until so many have been moved, or until SIGTERM: lists of single pages and of 2 MiB, with holes, repetitions and
 * overlaps, and the whole by one policy after the other.
 *
 * `alone` says that nobody else moves the domain's pages or sets its policy: then each page must be where it was said to have
 * been moved, and the whole is brought in order at the end.
 * The domain may go away: that is said, and is no failure.  So is that pages have begun to move.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xencall.h>
#include <xenctrl.h>
#include <xen/domctl.h>

#define LIST 700
#define MOST_NODES 8

static xencall_handle *xcall;
static struct xen_domctl *domctl;
static struct xen_numa_move *list;
static xen_numa_page_t *pages;
static uint8_t *bitmap;
static uint32_t domid;
static bool alone, begun;
static unsigned int nodes;
static uint64_t gfns, state, results[XEN_NUMA_MOVE_RESULTS], superpages;

static volatile sig_atomic_t stop;

static void stop_soon(int unused)
{
	(void)unused;
	stop = 1;
}

static uint64_t rnd(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

static void print_results(const char *how)
{
	printf("numa-mover: %s: %" PRIu64 " moved, %" PRIu64 " times 2 MiB, %" PRIu64 " there, %" PRIu64 " no page, %" PRIu64
	       " busy, %" PRIu64 " unmovable, %" PRIu64 " no room\n", how, results[XEN_NUMA_MOVE_DONE], superpages,
	       results[XEN_NUMA_MOVE_THERE], results[XEN_NUMA_MOVE_NO_PAGE], results[XEN_NUMA_MOVE_BUSY],
	       results[XEN_NUMA_MOVE_UNMOVABLE], results[XEN_NUMA_MOVE_NO_ROOM]);
	fflush(stdout);
}

static struct xen_domctl_numa_policy *prepare(uint32_t op)
{
	memset(domctl, 0, sizeof(*domctl));
	domctl->cmd = XEN_DOMCTL_numa_policy;
	domctl->interface_version = XEN_DOMCTL_INTERFACE_VERSION;
	domctl->domain = domid;
	domctl->u.numa_policy.op = op;
	return &domctl->u.numa_policy;
}

/* False if Xen refuses it with this errno; 0: it may not. */
static bool call(const char *what, int refusal)
{
	if (xencall1(xcall, __HYPERVISOR_domctl, (uintptr_t)domctl) >= 0)
		return true;
	if (refusal && errno == refusal)
		return false;
	if (errno == ESRCH) {
		print_results("the domain is gone");
		exit(0);
	}
	fprintf(stderr, "numa-mover: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void rebalance(void)
{
	struct xen_domctl_numa_policy *np = prepare(XEN_DOMCTL_NUMA_POLICY_SET);
	uint64_t gfn = 0;

	bitmap[0] = rnd() % ((1u << nodes) - 1) + 1;
	np->u.conf.policy = XEN_NUMA_POLICY_ROUND_4K + rnd() % 3;
	np->u.conf.nodes.nr_bits = MOST_NODES;
	set_xen_guest_handle_raw(np->u.conf.nodes.bitmap, bitmap);
	call("set", 0);
	do {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_REBALANCE);
		np->u.rebalance.gfn = gfn;
		np->u.rebalance.nr = rnd() % 4096;
		/* another has set the policy none: nothing is left to be done */
		if (!call("rebalance", alone ? 0 : ENOENT))
			return;
		for (unsigned int i = 0; i < XEN_NUMA_MOVE_RESULTS; i++)
			results[i] += np->u.rebalance.pages[i];
		gfn = np->u.rebalance.gfn;
	} while (gfn != XEN_NUMA_USAGE_END);
}

/* Each page of the last list is on the node of the last entry that moved it: one named twice may be "there" before it goes. */
static void check(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct xen_domctl_numa_policy *np;
		uint64_t gfn = list[i].gfn + rnd() % (1u << list[i].order);
		int last = -1;

		for (unsigned int j = 0; j < nr; j++)
			if (list[j].result == XEN_NUMA_MOVE_DONE &&
			    gfn >= list[j].gfn && gfn < list[j].gfn + (1u << list[j].order))
				last = j;
		if (last < 0)
			continue;
		np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
		pages[0].gfn = gfn;
		np->u.locate.nr = 1;
		set_xen_guest_handle_raw(np->u.locate.pages, pages);
		call("locate", 0);
		if (pages[0].node != list[last].node) {
			fprintf(stderr, "numa-mover: gfn %#" PRIx64 " was moved to node %" PRIu32 " and is on %" PRIu32 "\n",
				gfn, list[last].node, pages[0].node);
			exit(1);
		}
	}
}

static void move_list(void)
{
	struct xen_domctl_numa_policy *np;
	unsigned int nr = rnd() % LIST + 1;
	/* few gfns: many repetitions */
	uint64_t first = rnd() % gfns, range = rnd() % 4 ? gfns : rnd() % 1024 + 1;
	uint32_t done = 0;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t gfn = (first + rnd() % range) % gfns;

		if (!(rnd() % 64))
			gfn = rnd() >> (rnd() % 64);		/* nowhere, most of the time */
		list[i] = (struct xen_numa_move){ .gfn = gfn, .node = rnd() % nodes };
		if (!(rnd() % 32)) {
			list[i].order = 9;
			list[i].gfn &= ~511ull;
		}
	}
	do {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
		np->u.move.nr = nr;
		np->u.move.done = done;
		set_xen_guest_handle_raw(np->u.move.list, list);
		call("move", 0);
		done = np->u.move.done;
	} while (done < nr);
	for (unsigned int i = 0; i < nr; i++) {
		results[list[i].result] += 1u << list[i].order;
		superpages += list[i].order && list[i].result == XEN_NUMA_MOVE_DONE;
	}
	if (results[XEN_NUMA_MOVE_DONE] && !begun) {
		print_results("begun");
		begun = true;
	}
	if (alone)
		check(nr);
}

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	uint64_t wanted;

	alone = argc == 6 && !strcmp(argv[5], "alone");
	xcall = xencall_open(NULL, 0);
	domctl = xcall ? xencall_alloc_buffer(xcall, sizeof(*domctl)) : NULL;
	list = xcall ? xencall_alloc_buffer(xcall, LIST * sizeof(*list)) : NULL;
	pages = xcall ? xencall_alloc_buffer(xcall, sizeof(*pages)) : NULL;
	bitmap = xcall ? xencall_alloc_buffer(xcall, MOST_NODES / 8) : NULL;
	if ((argc != 5 && !alone) || !domctl || !list || !pages || !bitmap) {
		fprintf(stderr, "usage: numa-mover DOMID MIB PAGES SEED [alone], in dom0\n");
		return 2;
	}
	if (!xch || xc_numainfo(xch, &nodes, NULL, NULL) || !nodes || nodes > MOST_NODES) {
		fprintf(stderr, "numa-mover: %u nodes: %s\n", nodes, strerror(errno));
		return 1;
	}
	domid = strtoul(argv[1], NULL, 0);
	gfns = strtoull(argv[2], NULL, 0) << 8;
	wanted = strtoull(argv[3], NULL, 0);
	state = strtoull(argv[4], NULL, 0) + 0x9e3779b97f4a7c15u;	/* which may not be 0 */

	signal(SIGTERM, stop_soon);
	while (!stop && results[XEN_NUMA_MOVE_DONE] < wanted) {
		for (unsigned int i = 0; i < 24 && !stop && results[XEN_NUMA_MOVE_DONE] < wanted; i++)
			move_list();
		if (!stop && results[XEN_NUMA_MOVE_DONE] < wanted)
			rebalance();
	}
	if (alone)
		rebalance();		/* so that there is a policy of which all must be true */
	print_results("finished");
	return 0;
}
