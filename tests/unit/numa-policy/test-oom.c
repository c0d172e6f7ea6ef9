/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Populating, and choosing a policy, with each allocation failing in turn.  Whatever fails, an extent is populated as a whole or not
 * at all, the domain owns what is behind its gfns, all else is free, and no lock is held.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

#define NODES 2U

static const unsigned long pages[NODES] = { 6000, 6000 };
static struct domain dom;
static struct domain control = { .domain_id = 0 };
static struct vcpu caller = { .domain = &control };

static void check_unlocked(void)
{
	assert_int_equal(test_locks_held, 0);
	assert_int_equal(machine_gfns_locked, 0);
}

static void check_all_is_free(void)
{
	check_unlocked();
	assert_int_equal(machine_owned(), 0);
	for (nodeid_t node = 0; node < NODES; node++)
		assert_int_equal(avail_node_heap_pages(node), pages[node]);
}

static void new_domain(void)
{
	dom = (struct domain){ .domain_id = 5, .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = 3;
	current = &caller;
	check_all_is_free();
}

static void end(void)
{
	machine_destroy(&dom);
	domain_numa_policy_destroy(&dom);
	check_all_is_free();
}

/* A domain is made. */

static void begin_round_4k(void)
{
	new_domain();
	assert_int_equal(test_param("round-4k"), 0);
}

static void begin_round_2m(void)
{
	new_domain();
	assert_int_equal(test_param("round-2m"), 0);
}

static void begin_first_touch(void)
{
	new_domain();
	assert_int_equal(test_param("first-touch"), 0);
}

static int create(void)
{
	return domain_numa_policy_init(&dom);
}

static void check_created(int rc)
{
	check_all_is_free();
	assert_int_equal(!dom.numa_policy, rc == -ENOMEM);
}

/* It gets another policy, or the same over other nodes. */

static void begin_policy(void)
{
	begin_round_4k();
	assert_int_equal(create(), 0);
}

static void begin_affinity(void)
{
	begin_policy();
	dom.node_affinity.bits[0] = 2;
}

static int set(uint32_t policy, unsigned int nr, uint32_t weights[])
{
	struct xen_domctl_numa_policy_conf conf = { .policy = policy, .nr_weights = nr };

	conf.weights.p = weights;
	return numa_policy_set(&dom, &conf);
}

static int set_weighted(void)
{
	uint32_t weights[] = { 3, 1 };

	return set(XEN_NUMA_POLICY_ROUND_2M, 2, weights);
}

static int set_first_touch(void)
{
	return set(XEN_NUMA_POLICY_FIRST_TOUCH, 0, NULL);
}

/* That of before, or the new one, as a whole. */
static void check_policy(const struct numa_policy_ops *ops, unsigned int heavy)
{
	unsigned int nr[NODES] = {};
	nodeid_t nodes[4 * 512];

	check_all_is_free();
	assert_ptr_equal(dom.numa_policy->ops, ops);
	assert_true(numa_policy_place(&dom, _gfn(0), ARRAY_SIZE(nodes), nodes));
	for (unsigned int i = 0; i < ARRAY_SIZE(nodes); i++)
		nr[nodes[i]]++;
	assert_int_equal(nr[0], heavy * 512);
}

static void check_weighted(int rc)
{
	check_policy(rc ? &round_4k_ops : &round_2m_ops, rc ? 2 : 3);
}

static void check_first_touch(int rc)
{
	check_policy(rc ? &round_4k_ops : &first_touch_ops, 2);
}

/* What it has is kept until there is memory for the other, and is known also if there is none for the answer's nodes. */
static int follow(void)
{
	struct xen_domctl_numa_policy_conf conf = {};
	uint32_t weight;
	int rc;

	conf.weights.p = &weight;
	rc = numa_policy_get(&dom, &conf);
	assert_true(!rc || rc == -ENOMEM);
	return conf.nr_weights == 1 ? 0 : -ENOMEM;
}

static void check_followed(int rc)
{
	check_policy(&round_4k_ops, rc ? 2 : 0);
}

/* Populating. */

static unsigned long first;
static unsigned int order;

static void extent(unsigned long gfn, unsigned int of)
{
	first = gfn;
	order = of;
	machine_one_by_one = false;
	machine_preempt_percent = 50;
	assert_int_equal(create(), 0);
}

static void begin_2m(void)
{
	begin_round_4k();
	extent(512, 9);
}

static void begin_one_by_one(void)
{
	begin_round_4k();
	extent(7, 6);
}

static void begin_8m(void)
{
	begin_round_4k();
	extent(2048, 11);
}

static void begin_8m_by_2m(void)
{
	begin_round_2m();
	extent(2048, 11);
}

static void begin_8m_on_one_node(void)
{
	begin_round_2m();
	dom.node_affinity.bits[0] = 2;
	extent(2048, 11);
}

static void begin_8m_untouched(void)
{
	begin_first_touch();
	extent(2048, 11);
}

static void begin_untouched_one_by_one(void)
{
	begin_first_touch();
	extent(7, 6);
}

static int populate(void)
{
	bool need_flush;
	uint32_t stamp;
	int rc;

	do {
		rc = numa_policy_populate(&dom, _gfn(first), order, MEMF_no_tlbflush, &need_flush, &stamp);
		check_unlocked();
	} while (rc == -ERESTART);
	return rc;
}

static void check_populated(int rc)
{
	unsigned long nr = rc ? 0 : 1UL << order, is_free = 0, counted = dom.numa_policy->placed + dom.numa_policy->fallback;

	check_unlocked();
	assert_true(!rc || rc == -ENOMEM);
	for (unsigned long gfn = 0; gfn < P2M_PAGES; gfn++)
		assert_int_equal(p2m[gfn].present, nr && gfn >= first && gfn < first + nr);
	for (nodeid_t node = 0; node < NODES; node++)
		is_free += avail_node_heap_pages(node);
	assert_int_equal(machine_owned(), nr);
	assert_int_equal(is_free, pages[0] + pages[1] - nr);
	assert_int_equal(counted, numa_policy_on_touch(&dom) ? 0 : nr);
	assert_false(dom.numa_policy->cursor.active || dom.numa_policy->cursor.running);
}

static const struct oom_case cases[] = {
	{ "create with round-4k", begin_round_4k, create, check_created, end, { [OOM_XEN] = 3 } },
	{ "create with first-touch", begin_first_touch, create, check_created, end, { [OOM_XEN] = 4 } },
	{ "set round-2m with weights", begin_policy, set_weighted, check_weighted, end, { [OOM_XEN] = 3 } },
	{ "set first-touch", begin_policy, set_first_touch, check_first_touch, end, { [OOM_XEN] = 4 } },
	{ "follow the affinity", begin_affinity, follow, check_followed, end, { [OOM_XEN] = 3 } },
	{ "populate 2 MiB by 4 KiB", begin_2m, populate, check_populated, end, { [OOM_FRAMES] = 2, [OOM_TABLES] = 1, [OOM_XEN] = 1 } },
	{ "populate 64 pages one by one", begin_one_by_one, populate, check_populated, end,
	  { [OOM_FRAMES] = 2, [OOM_TABLES] = 64, [OOM_XEN] = 1 } },
	{ "populate 8 MiB by 4 KiB", begin_8m, populate, check_populated, end, { [OOM_FRAMES] = 8, [OOM_TABLES] = 4, [OOM_XEN] = 4 } },
	{ "populate 8 MiB by 2 MiB", begin_8m_by_2m, populate, check_populated, end, { [OOM_FRAMES] = 4, [OOM_TABLES] = 4 } },
	{ "populate 8 MiB in one", begin_8m_on_one_node, populate, check_populated, end, { [OOM_FRAMES] = 1, [OOM_TABLES] = 1 } },
	{ "populate 8 MiB untouched", begin_8m_untouched, populate, check_populated, end, { [OOM_FRAMES] = 4, [OOM_TABLES] = 4 } },
	{ "populate 64 untouched pages one by one", begin_untouched_one_by_one, populate, check_populated, end,
	  { [OOM_FRAMES] = 1, [OOM_TABLES] = 64, [OOM_XEN] = 1 } },
};

int main(void)
{
	OOM_TESTS(cases, tests);

	test_seed();
	machine_reset(NODES, pages);
	return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}
