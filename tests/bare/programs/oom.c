// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Out of memory at every point.  Each operation is run with its 1st, 2nd, 3rd ... allocation failing, alone and with all that follow,
 * until none is left to fail.  After each it has an error or what it could do, no page is lost or owned twice, what was written is
 * there, it goes through when it is called again, and when the domain is gone each node has the free memory that it had.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "bare.h"
#include "oom.h"

#define WINDOW 0
#define MIB 64
#define MOST_POINTS 5000UL
#define NODES 2
/* for RCU, and who else lets memory go later */
#define PATIENCE 1000

/* What is looked at: some of each 2 MiB, the first and the last page among them. */
#define STEP 73

static const struct operation *op;
static unsigned long point;
static bool all_follow, kept;

static void fails(const char *what, long value)
{
	say("bare: %s, point %lu%s: %s (%ld)\n", op->name, point, all_follow ? " and all that follow" : "", what, value);
	kept = false;
}

static void check(bool good, const char *what, long value)
{
	if (!good)
		fails(what, value);
}

struct memory {
	unsigned long free[NODES], small;
};

static struct memory free_memory(void)
{
	struct memory now = { .small = small_memory() };

	for (unsigned int node = 0; node < NODES; node++)
		now.free[node] = free_pages(node, 0);
	return now;
}

static bool same_memory(struct memory a, struct memory b)
{
	return a.free[0] == b.free[0] && a.free[1] == b.free[1] && a.small == b.small;
}

static struct memory settled_memory(void)
{
	struct memory now, before = free_memory();

	for (int i = 0; i < 10; i++) {
		pass_cpus();
		now = free_memory();
		if (!same_memory(now, before))
			i = 0;
		before = now;
	}
	return before;
}

static void check_memory(struct memory before)
{
	for (int i = 0; i < PATIENCE && !same_memory(before, free_memory()); i++)
		pass_cpus();
	check(small_memory() == before.small, "bytes of Xen's lost", (long)(small_memory() - before.small));
	for (unsigned int node = 0; node < NODES; node++)
		check(free_pages(node, 0) == before.free[node], node ? "pages lost of node 1" : "pages lost of node 0",
		      (long)(before.free[node] - free_pages(node, 0)));
}

static unsigned long next_page(unsigned long i)
{
	return i + STEP < PAGES_2M || i == PAGES_2M - 1 ? i + STEP : PAGES_2M - 1;
}

void stamp(domid_t domid, unsigned long gfn)
{
	for (unsigned long i = 0; i < PAGES_2M; i = next_page(i))
		*(volatile uint64_t *)map_page(WINDOW, domid, gfn + i) = gfn + i;
	unmap_page(WINDOW);
}

/* Each frame is of the gfn that has it, and, where something was written, holds that. */
static void check_frames(domid_t domid, unsigned long gfn, bool stamped)
{
	for (unsigned long i = 0; i < PAGES_2M; i = next_page(i)) {
		struct xen_numa_page page = { .gfn = gfn + i };
		volatile uint64_t *word;

		locate_pages(domid, &page, 1);
		if (page.node == XEN_NUMA_PAGE_NONE)
			continue;
		word = map_page(WINDOW, domid, gfn + i);
		check(gfn_of_frame(frame_of(WINDOW)) == gfn + i, "a frame is of another gfn", gfn + i);
		if (stamped)
			check(*word == gfn + i, "what was written is not there", gfn + i);
	}
	unmap_page(WINDOW);
}

static unsigned long mapped_pages(domid_t domid)
{
	struct node_usage usage[MOST_NODES];
	unsigned long pages = 0;

	get_usage(domid, usage);
	for (int node = 0; node < MOST_NODES; node++)
		pages += usage[node].pages[XEN_NUMA_USAGE_4K] + (usage[node].pages[XEN_NUMA_USAGE_2M] << ORDER_2M)
			+ (usage[node].pages[XEN_NUMA_USAGE_1G] << 2 * ORDER_2M);
	return pages;
}

static void check_domain(domid_t domid, unsigned long pages)
{
	unsigned long has = total_pages(domid), accounted = mapped_pages(domid) + untouched_pages(domid);

	check(has == pages || op->unmapped, "pages of the domain", (long)(has - pages));
	check(has == accounted || op->unmapped, "pages that are mapped or wait", (long)(accounted - has));
	for (unsigned long at = 0; at < FIELD_PAGES; at += PAGES_2M)
		check_frames(domid, FIELD + at, op->stamped);
}

/* Of a domain that has been prepared; whether an allocation was left to fail. */
static bool run_prepared(domid_t domid)
{
	unsigned long had = total_pages(domid), seen;
	long result;

	arm_fault(op->by_guest ? domid : 0, point, all_follow);
	result = op->run(domid);
	seen = disarm_fault();
	if (op->may_kill && result == -EPIPE && seen >= point)
		return true;
	check(!result || (result == -ENOMEM && seen >= point), "the result is", result);
	check_domain(domid, had + (result ? 0 : op->pages));
	if (seen >= point) {
		if (result || op->again) {
			result = op->run(domid);
			check(!result, "called again", result);
		}
		check_domain(domid, had + op->pages);
	}
	if (op->is_done)
		check(op->is_done(domid), "it is done", 0);
	return seen >= point;
}

static bool run_creation(void)
{
	unsigned long seen;
	domid_t domid;
	long error;

	arm_fault(0, point, all_follow);
	error = create_domain(&domid, 1);
	seen = disarm_fault();
	check(!error || (error == -ENOMEM && seen >= point), "the result is", error);
	if (!error) {
		set_max_pages(domid, PAGES_2M);
		check(populate(domid, FIELD, ORDER_2M, ANY_NODE) == 1, "it is populated", 0);
		check_domain(domid, PAGES_2M);
		check(!destroy_domain(domid), "it is destroyed", 0);
	}
	return seen >= point;
}

static bool run_once(void)
{
	domid_t domid;
	bool more;

	if (!op->run)
		return run_creation();
	domid = new_domain(MIB, 1);
	op->prepare(domid);
	more = run_prepared(domid);
	/* the window to its mailbox */
	unmap_page(MAILBOX_WINDOW);
	check(!destroy_domain(domid), "it is destroyed", 0);
	return more;
}

static unsigned long run_points(bool and_rest)
{
	struct memory before;

	all_follow = and_rest;
	/* what Xen keeps for the next time is there then */
	point = MOST_POINTS;
	run_once();
	before = settled_memory();
	for (point = number_of("from", 1); run_once(); point++) {
		check_memory(before);
		/* what is lost is told once */
		if (!same_memory(before, free_memory()))
			before = settled_memory();
		if (point == MOST_POINTS)
			die_of("%s: there is no end of points", op->name);
	}
	check_memory(before);
	return point - 1;
}

static void try(void)
{
	char line[120];
	unsigned long points;

	kept = true;
	points = run_points(false);
	snprintf(line, sizeof(line), "%s: points", op->name);
	note(line, points);
	snprintf(line, sizeof(line), "%s: at least %u points", op->name, op->points);
	promise(line, points >= op->points);
	points = run_points(true);
	snprintf(line, sizeof(line), "%s: points with all that follow", op->name);
	note(line, points);
	snprintf(line, sizeof(line), "%s: nothing lost at any of them", op->name);
	promise(line, kept);
}

void program(void)
{
	for (op = operations; op->name; op++)
		if (argument(op->group))
			try();
}
