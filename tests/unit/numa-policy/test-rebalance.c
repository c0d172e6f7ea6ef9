/* SPDX-License-Identifier: GPL-2.0-only */
/* Rebalancing under a limit: what a batch leaves is gone on with, in this call or in the next, and each page is counted once. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

#define BLOCK 512U
#define PAGES (3 * BLOCK)
#define HOLE 7U		/* each such gfn */
#define STUCK 5U	/* each such one cannot move in time */

struct p2m_numa_batch { unsigned int limit; };

static struct domain dom, control;
static struct vcpu caller = { .domain = &control };
static nodeid_t is_on[PAGES];
static unsigned int tried[PAGES], batch, order;
/* Blocks that are one page; what becomes of those that are to be; and how many were. */
static bool is_one[PAGES / BLOCK], no_holes;
static unsigned int outcome, joins;

int p2m_numa_may_move(const struct domain *d) { return 0; }
uint64_t p2m_numa_next(struct domain *d, uint64_t gfn)
{
	test_takes_p2m_lock();
	return gfn < PAGES ? gfn : XEN_NUMA_USAGE_END;
}

void p2m_numa_locate(struct domain *d, struct xen_numa_page page[], unsigned int nr)
{
	test_takes_p2m_lock();
	for (unsigned int i = 0; i < nr; i++) {
		page[i].node = order || no_holes || page[i].gfn % HOLE ? is_on[page[i].gfn] : XEN_NUMA_PAGE_NONE;
		page[i].order = is_one[page[i].gfn / BLOCK] ? 9 : order;
	}
}

struct p2m_numa_batch *p2m_numa_batch_new(struct domain *d)
{
	return calloc(1, sizeof(struct p2m_numa_batch));
}

void p2m_numa_batch_limit(struct p2m_numa_batch *b, unsigned int us) { b->limit = us; }
void p2m_numa_batch_free(struct p2m_numa_batch *b) { free(b); }
struct p2m_numa_cost p2m_numa_batch_cost(struct p2m_numa_batch *b) { return (struct p2m_numa_cost){ .pause_ns = 3, .exceeded = 1, .copied_again = 2 }; }

int p2m_numa_move(struct p2m_numa_batch *b, struct xen_numa_move move[], unsigned int nr, bool renew, unsigned int *done)
{
	test_takes_p2m_lock();
	unsigned int i;

	assert_int_equal(b->limit, 77);
	assert_true(nr && nr <= P2M_NUMA_BATCH);
	assert_int_equal(renew, order != 0);
	for (i = 0; i < min(nr, batch); i++) {
		bool late = move[i].gfn % STUCK == 0;

		/* the first one had its chance */
		if (late && i)
			break;
		tried[move[i].gfn]++;
		move[i].result = late ? XEN_NUMA_MOVE_LATE : XEN_NUMA_MOVE_DONE;
		if (!late)
			is_on[move[i].gfn] = move[i].node;
		if (late) {
			i++;
			break;
		}
	}
	*done = i;
	return 0;
}

int p2m_numa_move_superpage(struct p2m_numa_batch *b, gfn_t gfn, nodeid_t node, unsigned int *result)
{
	test_takes_p2m_lock();
	assert_int_equal(b->limit, 77);
	assert_int_equal(gfn_x(gfn) % BLOCK, 0);
	assert_true(numa_policy_node_has_memory(node));
	joins++;
	*result = outcome;
	if (outcome != XEN_NUMA_MOVE_DONE)
		return 0;
	is_one[gfn_x(gfn) / BLOCK] = true;
	for (unsigned long i = 0; i < BLOCK; i++)
		is_on[gfn_x(gfn) + i] = node;
	return 0;
}

static void set(uint32_t policy, uint64_t nodes)
{
	struct xen_domctl_numa_policy_conf conf = { .policy = policy, .max_pause_us = 77 };

	conf.nodes.nr_bits = 64;
	conf.nodes.bitmap.p = (uint8_t *)&nodes;
	assert_int_equal(numa_policy_set(&dom, &conf), 0);
}

/* Pages by what became of them, by as many calls as it takes. */
static unsigned int rebalance_by(uint32_t flags, uint64_t pages[XEN_NUMA_MOVE_RESULTS])
{
	struct xen_domctl_numa_policy_rebalance op = { .nr = ~0U, .flags = flags };
	unsigned int calls = 0;

	memset(pages, 0, XEN_NUMA_MOVE_RESULTS * sizeof(*pages));
	while (op.gfn != XEN_NUMA_USAGE_END) {
		uint64_t before = op.gfn;

		assert_int_equal(numa_policy_rebalance(&dom, &op), 0);
		assert_int_equal(test_locks_held, 0);
		for (unsigned int i = 0; i < XEN_NUMA_MOVE_RESULTS; i++)
			pages[i] += op.pages[i];
		calls += op.gfn != before;
	}
	return calls;
}

static unsigned int rebalance(uint64_t pages[XEN_NUMA_MOVE_RESULTS])
{
	return rebalance_by(0, pages);
}

static void each_page_is_counted_once(void **unused)
{
	static const unsigned int batches[] = { 1, 2, 100, 512 };
	uint64_t pages[XEN_NUMA_MOVE_RESULTS];

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(batches); i++) {
		unsigned int holes = 0, late = 0, there = 0, calls;

		batch = batches[i / 2];
		order = 0;
		machine_preempt_percent = i % 2 ? 30 : 0;
		memset(tried, 0, sizeof(tried));
		for (unsigned int gfn = 0; gfn < PAGES; gfn++) {
			is_on[gfn] = gfn % 3 == 0 ? 1 : 0;
			holes += gfn % HOLE == 0;
			there += gfn % HOLE && is_on[gfn];
			late += gfn % HOLE && !is_on[gfn] && gfn % STUCK == 0;
		}
		set(XEN_NUMA_POLICY_ROUND_4K, 1 << 1);
		calls = rebalance(pages);
		assert_int_equal(pages[XEN_NUMA_MOVE_NO_PAGE], holes);
		assert_int_equal(pages[XEN_NUMA_MOVE_LATE], late);
		assert_int_equal(pages[XEN_NUMA_MOVE_THERE], there);
		assert_int_equal(pages[XEN_NUMA_MOVE_DONE], PAGES - holes - late - there);
		for (unsigned int gfn = 0; gfn < PAGES; gfn++)
			assert_int_equal(tried[gfn], gfn % HOLE && gfn % 3);
		/* what has other work to do is not kept from it by a block */
		assert_true(!machine_preempt_percent ? calls == 1 : batch > 2 || calls > 10);
	}
}

/* It would not come free as a whole. */
static void what_is_divided_is_moved_in_one_call(void **unused)
{
	uint64_t pages[XEN_NUMA_MOVE_RESULTS];

	batch = 3;
	order = 9;
	machine_preempt_percent = 100;
	memset(is_on, 0, sizeof(is_on));
	memset(tried, 0, sizeof(tried));
	set(XEN_NUMA_POLICY_ROUND_4K, 3);
	/* and the last one finds the end */
	assert_int_equal(rebalance(pages), PAGES / BLOCK + 1);
	for (unsigned int gfn = 0; gfn < PAGES; gfn++)
		assert_int_equal(tried[gfn], 1);
	assert_int_equal(pages[XEN_NUMA_MOVE_DONE] + pages[XEN_NUMA_MOVE_LATE], PAGES);
}

/* What a pause was before says nothing of another limit; all else is of the domain's life. */
static void another_limit_is_counted_anew(void **unused)
{
	struct xen_domctl_numa_policy_conf conf = { .policy = XEN_NUMA_POLICY_ROUND_4K, .max_pause_us = 78 };
	struct xen_domctl_numa_policy_stats stats;
	uint64_t pages[XEN_NUMA_MOVE_RESULTS], nodes;
	uint32_t weights[1];

	batch = 512;
	order = 0;
	set(XEN_NUMA_POLICY_ROUND_4K, 1 << 1);
	rebalance(pages);
	set(XEN_NUMA_POLICY_ROUND_4K, 1 << 0);
	numa_policy_stats(&dom, &stats);
	assert_int_equal(stats.pause_ns, 3);
	assert_true(stats.exceeded && stats.copied_again);
	assert_int_equal(numa_policy_set(&dom, &conf), 0);
	numa_policy_stats(&dom, &stats);
	assert_int_equal(stats.pause_ns, 0);
	assert_int_equal(stats.exceeded, 0);
	assert_true(stats.copied_again);
	conf = (struct xen_domctl_numa_policy_conf){ .nodes = { .bitmap.p = (uint8_t *)&nodes, .nr_bits = 64 }, .weights.p = weights };
	assert_int_equal(numa_policy_get(&dom, &conf), 0);
	assert_int_equal(conf.max_pause_us, 78);
	assert_int_equal(numa_policy_get(&dom, &conf), -EINVAL);
}

/* Small pages that are all there; the first one of @nr on node 0 is the first of all. */
static void scatter(unsigned int nr)
{
	order = joins = 0;
	outcome = XEN_NUMA_MOVE_DONE;
	no_holes = true;
	memset(is_one, 0, sizeof(is_one));
	memset(tried, 0, sizeof(tried));
	for (unsigned int gfn = 0; gfn < PAGES; gfn++)
		is_on[gfn] = gfn % BLOCK >= nr;
}

/* Each of them on @node, or by turns if that is 2. */
static void check_joined(nodeid_t node)
{
	assert_int_equal(joins, PAGES / BLOCK);
	for (unsigned int gfn = 0; gfn < PAGES; gfn++) {
		assert_true(is_one[gfn / BLOCK]);
		assert_int_equal(is_on[gfn], node < 2 ? node : gfn / BLOCK % 2);
		assert_int_equal(tried[gfn], 0);
	}
}

/* On the node that the policy names; without one on that of most of them, or by turns where each has nearly as many. */
static void compacting_makes_one_of_512(void **unused)
{
	static const struct { uint32_t policy; uint64_t homes; unsigned int on_0; nodeid_t node; } ways[] = {
		{ XEN_NUMA_POLICY_ROUND_2M, 3, 512, 2 }, { XEN_NUMA_POLICY_ROUND_2M, 3, 0, 2 },
		{ XEN_NUMA_POLICY_ROUND_1G, 3, 100, 0 }, { XEN_NUMA_POLICY_ROUND_2M, 2, 500, 1 },
		{ XEN_NUMA_POLICY_ROUND_4K, 2, 500, 1 }, { XEN_NUMA_POLICY_NONE, 3, 219, 1 },
		{ XEN_NUMA_POLICY_NONE, 3, 293, 0 }, { XEN_NUMA_POLICY_NONE, 3, 256, 2 },
		{ XEN_NUMA_POLICY_NONE, 3, 220, 2 }, { XEN_NUMA_POLICY_NONE, 3, 292, 2 }, { XEN_NUMA_POLICY_NONE, 1, 10, 1 },
		{ XEN_NUMA_POLICY_FIRST_TOUCH, 3, 512, 0 }, { XEN_NUMA_POLICY_FIRST_TOUCH, 2, 200, 1 },
	};
	uint64_t pages[XEN_NUMA_MOVE_RESULTS];

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		unsigned int calls;

		machine_preempt_percent = i % 2 ? 100 : 0;
		set(ways[i / 2].policy, ways[i / 2].homes);
		scatter(ways[i / 2].on_0);
		rebalance_by(XEN_NUMA_REBALANCE_COMPACT | XEN_NUMA_REBALANCE_DRY_RUN, pages);
		assert_int_equal(joins, 0);
		assert_int_equal(pages[XEN_NUMA_MOVE_DONE], PAGES);
		calls = rebalance_by(XEN_NUMA_REBALANCE_COMPACT, pages);
		assert_int_equal(pages[XEN_NUMA_MOVE_DONE], PAGES);
		assert_int_equal(calls, i % 2 ? PAGES / BLOCK + 1 : 1);
		check_joined(ways[i / 2].node);
		/* And there is nothing left to do, wherever they are. */
		rebalance_by(XEN_NUMA_REBALANCE_COMPACT, pages);
		assert_int_equal(pages[XEN_NUMA_MOVE_THERE], PAGES);
		assert_int_equal(joins, PAGES / BLOCK);
	}
}

static void what_is_no_2_mib_is_left_alone(void **unused)
{
	uint64_t pages[XEN_NUMA_MOVE_RESULTS];
	unsigned int holes = 0;

	set(XEN_NUMA_POLICY_ROUND_2M, 3);
	scatter(512);
	no_holes = false;
	is_one[1] = true;
	/* of a page that is one nobody asks for its parts */
	for (unsigned int gfn = 0; gfn < PAGES; gfn++)
		holes += gfn % HOLE == 0 && gfn / BLOCK != 1;
	rebalance_by(XEN_NUMA_REBALANCE_COMPACT, pages);
	assert_int_equal(joins, 0);
	assert_int_equal(pages[XEN_NUMA_MOVE_NO_PAGE], holes);
	assert_int_equal(pages[XEN_NUMA_MOVE_THERE], BLOCK);
	assert_int_equal(pages[XEN_NUMA_MOVE_UNMOVABLE], 2 * BLOCK - holes);

	/* Whose neighbours were touched elsewhere are where they should be. */
	set(XEN_NUMA_POLICY_FIRST_TOUCH, 3);
	scatter(511);
	rebalance_by(XEN_NUMA_REBALANCE_COMPACT, pages);
	assert_int_equal(joins, 0);
	assert_int_equal(pages[XEN_NUMA_MOVE_THERE], PAGES);

	/* What cannot be is counted, and tried once in a call. */
	set(XEN_NUMA_POLICY_NONE, 3);
	scatter(512);
	for (outcome = XEN_NUMA_MOVE_NO_PAGE; outcome < XEN_NUMA_MOVE_RESULTS; outcome++) {
		joins = 0;
		rebalance_by(XEN_NUMA_REBALANCE_COMPACT, pages);
		assert_int_equal(pages[outcome], PAGES);
		assert_int_equal(joins, PAGES / BLOCK);
	}
}

static void what_would_be_divided_again_is_refused(void **unused)
{
	struct xen_domctl_numa_policy_rebalance op = { .nr = ~0U, .flags = XEN_NUMA_REBALANCE_COMPACT };

	set(XEN_NUMA_POLICY_ROUND_4K, 3);
	scatter(512);
	assert_int_equal(numa_policy_rebalance(&dom, &op), -EDOM);
	op.flags |= XEN_NUMA_REBALANCE_DRY_RUN;
	assert_int_equal(numa_policy_rebalance(&dom, &op), -EDOM);
	op.flags = 4;
	assert_int_equal(numa_policy_rebalance(&dom, &op), -EINVAL);
	assert_int_equal(joins, 0);
}

static int setup(void **unused)
{
	const unsigned long memory[] = { 100, 100 };

	machine_reset(2, memory);
	assert_int_equal(test_param("round-4k"), 0);
	dom = (struct domain){ .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = 3;
	current = &caller;
	return domain_numa_policy_init(&dom);
}

static int teardown(void **unused)
{
	domain_numa_policy_destroy(&dom);
	machine_preempt_percent = 0;
	no_holes = false;
	memset(is_one, 0, sizeof(is_one));
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_page_is_counted_once),
		TEST(what_is_divided_is_moved_in_one_call),
		TEST(another_limit_is_counted_anew),
		TEST(compacting_makes_one_of_512),
		TEST(what_is_no_2_mib_is_left_alone),
		TEST(what_would_be_divided_again_is_refused),
	};

	return cmocka_run_group_tests_name("rebalance", tests, NULL, NULL);
}
