// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations that allocate, for programs/oom.c. */
#include <errno.h>
#include <stdint.h>

#include <xen/memory.h>

#include "bare.h"
#include "hypercall.h"
#include "mailbox.h"
#include "oom.h"
#include "told.h"

#define ORDER_8M (ORDER_2M + 2)
#define ON_0 1UL
#define ON_1 2UL
#define ON_BOTH 3UL
#define SMALL (FIELD + PAGES_2M)	/* small pages there, where there are some */
#define MOVED 40U
#define FRAMES 5
#define CACHED (PAGES_2M + 8)

GUEST_IMAGE(image, "told.guest");

static long done_or_no_memory(long extents)
{
	return extents == 1 ? 0 : -ENOMEM;
}

/* Populating, by policy. */

static void none(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
}

static void round_4k(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, ON_BOTH, NULL, 0);
}

static void round_2m(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ON_BOTH, NULL, 0);
}

static void round_1g(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_1G, ON_BOTH, NULL, 0);
}

static void first_touch(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, ON_BOTH, NULL, 0);
}

static long populate_page(domid_t domid)
{
	return done_or_no_memory(populate(domid, FIELD + 1, 0, ANY_NODE));
}

static long populate_2m(domid_t domid)
{
	return done_or_no_memory(populate(domid, FIELD, ORDER_2M, ANY_NODE));
}

static long populate_8m(domid_t domid)
{
	return done_or_no_memory(populate(domid, FIELD, ORDER_8M, ANY_NODE));
}

/* Without lists by node the cache is stock's. */
static long fill_cache(domid_t domid)
{
	struct xen_pod_target target = { .domid = domid, .target_pages = CACHED };

	return memory_op(XENMEM_set_pod_target, &target);
}

static bool is_cache_full(domid_t domid)
{
	return total_pages(domid) == CACHED;
}

static long release_one(domid_t domid)
{
	return done_or_no_memory(release_page(domid, FIELD + 7));
}

/* 2 MiB in one on node 0, and some small pages there. */
static void on_node_0(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ON_0, NULL, 0);
	if (populate_2m(domid))
		crash("there are no 2 MiB");
	for (unsigned int i = 0; i < MOVED; i++)
		if (populate(domid, SMALL + i, 0, ANY_NODE) != 1)
			crash("there are no small pages");
	stamp(domid, FIELD);
	for (unsigned int i = 0; i < MOVED; i++)
		*(volatile uint64_t *)map_page(0, domid, SMALL + i) = SMALL + i;
	unmap_page(0);
}

/* Policies: as it was, or as it was wanted. */

static long set_round_4k(domid_t domid)
{
	return try_set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, ON_BOTH, NULL, 0);
}

static bool is_round_4k(domid_t domid)
{
	return get_policy(domid) == XEN_NUMA_POLICY_ROUND_4K;
}

static long set_weighted(domid_t domid)
{
	static const uint32_t weights[] = { 3, 1 };

	return try_set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ON_BOTH, weights, 2);
}

static bool is_weighted(domid_t domid)
{
	uint32_t weights[2];

	get_weights(domid, weights, 2);
	return get_policy(domid) == XEN_NUMA_POLICY_ROUND_2M && weights[0] == 3 && weights[1] == 1;
}

static long set_first_touch(domid_t domid)
{
	return try_set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, ON_BOTH, NULL, 0);
}

static bool is_first_touch(domid_t domid)
{
	return get_policy(domid) == XEN_NUMA_POLICY_FIRST_TOUCH;
}

/* Moving: what finds no room, or no page for a table, stays. */

static long move(domid_t domid, struct xen_numa_move *list, unsigned int nr)
{
	struct xen_domctl op = { .u.numa_policy.u.move.nr = nr };
	long result;

	set_xen_guest_handle(op.u.numa_policy.u.move.list, list);
	do
		result = try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_MOVE, domid);
	while (!result && op.u.numa_policy.u.move.done < nr);
	for (unsigned int i = 0; i < nr && !result; i++)
		if (list[i].result > XEN_NUMA_MOVE_THERE && list[i].result != XEN_NUMA_MOVE_NO_ROOM &&
		    list[i].result != XEN_NUMA_MOVE_NO_TABLE)
			result = -EIO;
	return result;
}

static long move_pages(domid_t domid, unsigned long gfn)
{
	static struct xen_numa_move list[MOVED];

	for (unsigned int i = 0; i < MOVED; i++)
		list[i] = (struct xen_numa_move){ .gfn = gfn + i, .node = 1 };
	return move(domid, list, MOVED);
}

static bool are_on_node_1(domid_t domid, unsigned long gfn, unsigned int nr)
{
	static struct xen_numa_page pages[PAGES_2M];

	for (unsigned int i = 0; i < nr; i++)
		pages[i] = (struct xen_numa_page){ .gfn = gfn + i };
	locate_pages(domid, pages, nr);
	for (unsigned int i = 0; i < nr; i++)
		if (pages[i].node != 1)
			return false;
	return true;
}

static long move_small(domid_t domid)
{
	return move_pages(domid, SMALL);
}

static bool small_moved(domid_t domid)
{
	return are_on_node_1(domid, SMALL, MOVED);
}

static long move_some_of_2m(domid_t domid)
{
	return move_pages(domid, FIELD);
}

static bool some_of_2m_moved(domid_t domid)
{
	return are_on_node_1(domid, FIELD, MOVED);
}

static long move_2m(domid_t domid)
{
	struct xen_numa_move one = { .gfn = FIELD, .order = ORDER_2M, .node = 1 };

	return move(domid, &one, 1);
}

static bool is_2m_moved(domid_t domid)
{
	return are_on_node_1(domid, FIELD, PAGES_2M);
}

/* Rebalancing. */

static long rebalance_by(domid_t domid, uint32_t flags)
{
	struct xen_domctl op = { 0 };
	struct xen_domctl_numa_policy_rebalance *step = &op.u.numa_policy.u.rebalance;
	long result = 0;

	while (!result && step->gfn != XEN_NUMA_USAGE_END) {
		step->nr = UINT32_MAX;
		step->flags = flags;
		result = try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_REBALANCE, domid);
	}
	return result;
}

static long try_rebalance(domid_t domid)
{
	return rebalance_by(domid, 0);
}

static long try_compact(domid_t domid)
{
	return rebalance_by(domid, XEN_NUMA_REBALANCE_COMPACT);
}

static bool is_compact(domid_t domid)
{
	return superpages_of(domid) == 1 && !would_compact(domid);
}

static bool is_balanced(domid_t domid)
{
	return !would_rebalance(domid);
}

static void to_divide(domid_t domid)
{
	on_node_0(domid);
	round_4k(domid);
}

static void to_make_one(domid_t domid)
{
	round_4k(domid);
	if (populate_2m(domid))
		crash("there are no 2 MiB");
	stamp(domid, FIELD);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ON_1, NULL, 0);
}

/* Without a policy. */
static void to_put_together(domid_t domid)
{
	to_make_one(domid);
	none(domid);
}

static void to_follow(domid_t domid)
{
	on_node_0(domid);
	set_affinity(domid, ON_0);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, 0, NULL, 0);
	set_affinity(domid, ON_1);
}

/* Touches and releases, of a guest on CPU 1, which is node 1's; all its memory is node 0's. */

static long tell(domid_t domid, uint64_t what, uint64_t first, uint64_t nr)
{
	struct mailbox *mailbox = mailbox_of(domid);
	uint32_t step = mailbox->go + 1;

	mailbox->values[TOLD_WHAT] = what;
	mailbox->values[TOLD_FIRST] = first;
	mailbox->values[TOLD_NR] = nr;
	__atomic_store_n(&mailbox->go, step, __ATOMIC_SEQ_CST);
	return wait_guest(domid, step) ? (long)mailbox->values[TOLD_RESULT] : -EPIPE;
}

static void start_told(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ON_0, NULL, 0);
	load_guest(domid, image, image_end);
	if (populate_2m(domid) || populate(domid, SMALL, ORDER_2M, ANY_NODE) != 1)
		crash("there are no 2 MiB");
	stamp(domid, FIELD);
	stamp(domid, SMALL);
	first_touch(domid);
	pin_vcpu(domid, 0, 1);
	start_guest(domid, 1);
}

static void released(domid_t domid)
{
	start_told(domid);
	if (tell(domid, TOLD_RELEASE, FIELD, PAGES_2M) || tell(domid, TOLD_RELEASE, SMALL, MOVED))
		crash("pages cannot be released");
}

/* What waits is on node 0, and wanted on node 1. */
static void untouched_elsewhere(domid_t domid)
{
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, ON_0, NULL, 0);
	if (populate_2m(domid))
		crash("there are no 2 MiB");
	set_policy(domid, XEN_NUMA_POLICY_FIRST_TOUCH, ON_1, NULL, 0);
}

static void untouched(domid_t domid)
{
	first_touch(domid);
	if (populate_2m(domid))
		crash("there are no 2 MiB");
}

/* A page of 2 MiB, and all of the next. */
static long release_pages(domid_t domid)
{
	long result = tell(domid, TOLD_RELEASE, FIELD + 7, 1);

	return result ?: tell(domid, TOLD_RELEASE, SMALL, PAGES_2M);
}

static bool are_released(domid_t domid)
{
	return untouched_pages(domid) == 1 + PAGES_2M;
}

static long touch_2m(domid_t domid)
{
	return tell(domid, TOLD_TOUCH, FIELD, PAGES_2M);
}

static bool is_2m_touched(domid_t domid)
{
	return untouched_pages(domid) == MOVED;
}

static long touch_small(domid_t domid)
{
	return tell(domid, TOLD_TOUCH, SMALL, MOVED);
}

static bool are_small_touched(domid_t domid)
{
	return !untouched_pages(domid);
}

static void released_small(domid_t domid)
{
	start_told(domid);
	if (tell(domid, TOLD_RELEASE, SMALL, MOVED))
		crash("pages cannot be released");
}

/* From now on single pages are touched, and 2 MiB have to be divided. */
static void released_in_vain(domid_t domid)
{
	released(domid);
	round_4k(domid);
}

static long touch_one(domid_t domid)
{
	return tell(domid, TOLD_TOUCH, FIELD, 1);
}

/* dom0 does. */
static long touch_by_dom0(domid_t domid)
{
	return try_map_page(0, domid, FIELD) ? 0 : -ENOMEM;
}

static bool is_touched(domid_t domid)
{
	return !untouched_pages(domid);
}

/* Questions, and sampling. */

static long ask_usage(domid_t domid)
{
	struct xen_domctl op = { 0 };
	struct node_usage usage[MOST_NODES];

	op.u.numa_policy.u.usage.nr_nodes = MOST_NODES;
	set_xen_guest_handle(op.u.numa_policy.u.usage.counts, usage[0].pages);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_USAGE, domid);
}

static long ask_touches(domid_t domid)
{
	struct xen_domctl op = { 0 };
	uint64_t reserve[MOST_NODES];

	op.u.numa_policy.u.touches.nr_nodes = MOST_NODES;
	set_xen_guest_handle(op.u.numa_policy.u.touches.reserve, reserve);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_TOUCHES, domid);
}

static long ask_where(domid_t domid)
{
	static struct xen_numa_page pages[PAGES_2M];
	struct xen_domctl op = { .u.numa_policy.u.locate.nr = PAGES_2M };

	for (unsigned int i = 0; i < PAGES_2M; i++)
		pages[i] = (struct xen_numa_page){ .gfn = FIELD + i };
	set_xen_guest_handle(op.u.numa_policy.u.locate.pages, pages);
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_LOCATE, domid);
}

static long sample(domid_t domid, uint32_t action)
{
	struct xen_domctl op = { .u.numa_policy.u.sample.action = action };
	struct xen_domctl_numa_policy_sample *sample = &op.u.numa_policy.u.sample;
	static uint64_t samples[MOST_NODES * MOST_NODES];

	if (action == XEN_NUMA_SAMPLE_START) {
		sample->sources = 1U << XEN_NUMA_SAMPLE_HINT_FAULT;
		sample->entries = 64;
		sample->period_ms = XEN_NUMA_SAMPLE_MAX_PERIOD;
		sample->budget = XEN_NUMA_SAMPLE_MAX_BUDGET;
		sample->frames = FRAMES;
	} else if (action == XEN_NUMA_SAMPLE_GET) {
		sample->nr_nodes = MOST_NODES;
		set_xen_guest_handle(sample->samples, samples);
	}
	return try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_SAMPLE, domid);
}

static long start_sampling(domid_t domid)
{
	return sample(domid, XEN_NUMA_SAMPLE_START);
}

/* One that runs is refused. */
static bool is_sampled(domid_t domid)
{
	return start_sampling(domid) == -EBUSY;
}

static long ask_samples(domid_t domid)
{
	return sample(domid, XEN_NUMA_SAMPLE_GET);
}

static long stop_sampling(domid_t domid)
{
	return sample(domid, XEN_NUMA_SAMPLE_STOP);
}

static void sampled(domid_t domid)
{
	on_node_0(domid);
	if (start_sampling(domid))
		crash("there is no sampling");
}

static void sampled_before(domid_t domid)
{
	sampled(domid);
	if (stop_sampling(domid))
		crash("sampling does not stop");
}

#define PREPARED(of_group, at_least, called, prepares, runs, done, ...) \
	{ .group = of_group, .points = at_least, .name = called, .prepare = prepares, .run = runs, .is_done = done, __VA_ARGS__ }

const struct operation operations[] = {
	PREPARED("populate", 5, "populate a page, round-4k", round_4k, populate_page, NULL, .pages = 1),
	PREPARED("populate", 9, "populate 2 MiB, round-4k", round_4k, populate_2m, NULL, .pages = PAGES_2M),
	PREPARED("populate", 4, "populate 2 MiB, round-2m", round_2m, populate_2m, NULL, .pages = PAGES_2M),
	PREPARED("populate", 4, "populate 2 MiB, first-touch", first_touch, populate_2m, NULL, .pages = PAGES_2M),
	PREPARED("populate", 5, "populate a page, first-touch", first_touch, populate_page, NULL, .pages = 1),
	PREPARED("populate", 4, "populate 2 MiB, none", none, populate_2m, NULL, .pages = PAGES_2M, .unmapped = true),
	PREPARED("populate", 10, "fill the cache of what is populated on demand", round_4k, fill_cache, is_cache_full, .pages = CACHED,
		 .unmapped = true, .again = true),
	PREPARED("populate-8m", 30, "populate 8 MiB, round-4k", round_4k, populate_8m, NULL, .pages = 4 * PAGES_2M),
	PREPARED("populate-8m", 10, "populate 8 MiB, round-2m", round_2m, populate_8m, NULL, .pages = 4 * PAGES_2M),
	PREPARED("populate-8m", 4, "populate 8 MiB, round-1g", round_1g, populate_8m, NULL, .pages = 4 * PAGES_2M),
	PREPARED("populate-8m", 10, "populate 8 MiB, first-touch", first_touch, populate_8m, NULL, .pages = 4 * PAGES_2M),
	PREPARED("policy", 3, "set round-4k", none, set_round_4k, is_round_4k),
	PREPARED("policy", 3, "set round-2m with weights", round_4k, set_weighted, is_weighted),
	PREPARED("policy", 14, "set first-touch", on_node_0, set_first_touch, is_first_touch, .stamped = true),
	PREPARED("move", 19, "move small pages", on_node_0, move_small, small_moved, .stamped = true, .again = true),
	PREPARED("move", 20, "move pages of 2 MiB", on_node_0, move_some_of_2m, some_of_2m_moved, .stamped = true, .again = true),
	PREPARED("move", 18, "move 2 MiB", on_node_0, move_2m, is_2m_moved, .stamped = true, .again = true),
	PREPARED("rebalance", 36, "rebalance, by 4 KiB", to_divide, try_rebalance, is_balanced, .stamped = true, .again = true),
	PREPARED("rebalance", 18, "rebalance, by 2 MiB", to_make_one, try_rebalance, is_balanced, .stamped = true, .again = true),
	PREPARED("rebalance", 18, "compact, on node 1", to_make_one, try_compact, is_compact, .stamped = true, .again = true),
	PREPARED("rebalance", 18, "compact, without a policy", to_put_together, try_compact, is_compact, .stamped = true, .again = true),
	PREPARED("rebalance", 22, "rebalance, by affinity", to_follow, try_rebalance, is_balanced, .stamped = true, .again = true),
	PREPARED("release", 1, "release a page of 2 MiB", on_node_0, release_one, NULL, .pages = -1UL, .stamped = true),
	PREPARED("release", 1, "release an untouched page of 2 MiB", untouched, release_one, NULL, .pages = -1UL),
	PREPARED("release", 5, "events of a guest", start_told, release_pages, are_released, .stamped = true, .again = true, .by_guest = true),
	PREPARED("touch", 1, "touch 2 MiB", released, touch_2m, is_2m_touched, .by_guest = true, .again = true, .may_kill = true),
	PREPARED("touch", 40, "touch small pages", released_small, touch_small, are_small_touched, .by_guest = true, .again = true),
	PREPARED("touch", 1, "touch a page of 2 MiB", released_in_vain, touch_one, NULL, .by_guest = true, .may_kill = true),
	PREPARED("touch", 1, "touch by dom0", untouched_elsewhere, touch_by_dom0, is_touched),
	PREPARED("sample", 18, "start sampling", on_node_0, start_sampling, is_sampled, .stamped = true),
	PREPARED("sample", 12, "start sampling again", sampled_before, start_sampling, is_sampled, .stamped = true),
	PREPARED("sample", 1, "ask for samples", sampled, ask_samples, NULL, .stamped = true),
	PREPARED("sample", 0, "stop sampling", sampled, stop_sampling, NULL, .stamped = true),
	PREPARED("ask", 1, "ask where memory is", on_node_0, ask_usage, NULL, .stamped = true),
	PREPARED("ask", 1, "ask for touches", untouched, ask_touches, NULL),
	PREPARED("ask", 0, "ask where pages are", on_node_0, ask_where, NULL, .stamped = true),
	{ .group = "create", .points = 324, .name = "create a domain" },
	{ 0 }
};
