/* SPDX-License-Identifier: GPL-2.0-only */
/* first-touch: where a page comes from when it is touched, and that it waits until then. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

static struct domain dom;
static struct domain control = { .domain_id = 0 };
static struct vcpu caller = { .domain = &control };

static int try_domain(const char *policy, unsigned long affinity)
{
	if (dom.numa_policy)
		domain_numa_policy_destroy(&dom);
	assert_int_equal(test_param(policy), 0);
	dom = (struct domain){ .domain_id = 5, .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = affinity;
	current = &caller;
	machine_preempt_percent = machine_p2m_fail_percent = 0;
	machine_one_by_one = false;
	return domain_numa_policy_init(&dom);
}

static void new_domain(unsigned long affinity)
{
	static const unsigned long pages[] = { 8192, 8192, 8192, 8192 };

	machine_reset(4, pages);
	machine_may_be_untouched = 0;
	assert_int_equal(try_domain("first-touch", affinity), 0);
}

static int populate(unsigned long gfn, unsigned int order)
{
	bool need_flush;
	uint32_t stamp;
	int rc;

	do
		rc = numa_policy_populate(&dom, _gfn(gfn), order, MEMF_no_tlbflush, &need_flush, &stamp);
	while (rc == -ERESTART);
	assert_int_equal(test_locks_held, 0);
	return rc;
}

static unsigned int touched_grain;	/* as told of the last touch */

static nodeid_t touch(struct domain *of, unsigned int cpu, unsigned long gfn)
{
	struct vcpu v = { .domain = of, .processor = cpu };
	nodemask_t home;
	nodeid_t node;

	current = &v;
	node = numa_policy_touch(&dom, _gfn(gfn), &home, &touched_grain);
	current = &caller;
	assert_true(home.bits[0] == dom.numa_policy->home.nodes.bits[0]);
	return node;
}

static void a_vcpu_touches_on_its_node(void **unused)
{
	(void)unused;
	new_domain(0xf);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		for (unsigned long gfn = 0; gfn < 8192; gfn += 100)
			assert_int_equal(touch(&dom, cpu, gfn), cpu);
}

static void outside_of_home_the_nearest_home_node(void **unused)
{
	(void)unused;
	new_domain(0x6);
	test_distance[0][1] = 30;
	test_distance[0][2] = 15;
	test_distance[3][1] = 12;
	test_distance[3][2] = 15;
	assert_int_equal(try_domain("first-touch", 0x6), 0);
	assert_int_equal(touch(&dom, 0, 7), 2);
	assert_int_equal(touch(&dom, 1, 7), 1);
	assert_int_equal(touch(&dom, 2, 7), 2);
	assert_int_equal(touch(&dom, 3, 7), 1);
	/* it follows the affinity */
	dom.node_affinity.bits[0] = 0x8;
	assert_int_equal(touch(&dom, 0, 7), 3);
}

static void others_touch_on_the_home_nodes_in_turn(void **unused)
{
	(void)unused;
	new_domain(0x7);
	for (unsigned long gfn = 0; gfn < 8192; gfn += 100) {
		assert_int_equal(touch(&control, 3, gfn), gfn / 512 % 3);
		/* a CPU without a node */
		assert_int_equal(touch(&dom, 1000, gfn), gfn / 512 % 3);
	}
}

/* Memory that was left untouched by first-touch, and is touched under a policy that was set since. */
static void what_waits_is_divided_as_the_policy_wants(void **unused)
{
	static const struct {
		const char *policy;
		unsigned int grain, alone;	/* on several home nodes, and on one */
	} of[] = {
		{ "first-touch", 9, 9 }, { "round-4k", 0, MAX_ORDER }, { "round-2m", 9, MAX_ORDER }, { "round-1g", 18, MAX_ORDER },
		{ "none", MAX_ORDER, MAX_ORDER },
	};

	(void)unused;
	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		new_domain(0xf);
		assert_int_equal(try_domain(of[i].policy, 0xf), 0);
		touch(&dom, 1, 512);
		assert_int_equal(touched_grain, of[i].grain);
		assert_int_equal(try_domain(of[i].policy, 0x2), 0);
		touch(&dom, 1, 512);
		assert_int_equal(touched_grain, of[i].alone);
	}
}

static void touches_are_counted(void **unused)
{
	struct vcpu own = { .domain = &dom, .processor = 1 };

	(void)unused;
	new_domain(0xf);
	numa_policy_touched(&dom, true, 512);
	numa_policy_touched(&dom, false, 1);
	current = &own;
	numa_policy_touched(&dom, false, 512);
	for (unsigned int i = 0; i < 3; i++)
		numa_policy_touched(&dom, true, 1);
	current = &caller;
	assert_int_equal(dom.numa_policy->placed, 515);
	assert_int_equal(dom.numa_policy->fallback, 513);
	assert_int_equal(dom.numa_policy->touches.small, 4);
	assert_int_equal(dom.numa_policy->touches.large, 2);
	assert_int_equal(dom.numa_policy->touches.by_others, 2);
}

static void nothing_is_mapped_before(void **unused)
{
	(void)unused;
	for (unsigned long homes = 0x8; homes <= 0xf; homes += 7) {
		new_domain(homes);
		assert_int_equal(populate(0, 12), 0);
		assert_int_equal(populate(4096, 9), 0);
		assert_int_equal(populate(4608, 0), 0);
		/* not aligned */
		assert_int_equal(populate(4700, 9), 0);
		for (unsigned long gfn = 0; gfn < 5212; gfn++) {
			if (gfn > 4608 && gfn < 4700)
				continue;
			assert_true(p2m[gfn].present && p2m[gfn].untouched);
			assert_int_equal(p2m[gfn].order, gfn < 4608 ? 9 : 0);
			assert_int_equal(machine_node_of(p2m[gfn].mfn), homes == 0x8 ? 3 : gfn / 512 % 4);
		}
		assert_true(numa_policy_on_touch(&dom));
		/* which is counted when they are touched */
		assert_int_equal(dom.numa_policy->placed + dom.numa_policy->fallback, 0);
	}
}

/* In small pieces, too; and where there is something already, that is replaced as ever. */
static void fragmented_memory_is_not_mapped_either(void **unused)
{
	(void)unused;
	test_seed();
	new_domain(0x3);
	for (nodeid_t node = 0; node < 4; node++)
		machine_fragment(node, 2);
	assert_int_equal(populate(0, 11), 0);
	for (unsigned long gfn = 0; gfn < 2048; gfn++)
		assert_true(p2m[gfn].untouched);
}

static void all_is_taken_back_when_memory_runs_out(void **unused)
{
	const unsigned long pages[] = { 1200, 900 };

	(void)unused;
	new_domain(0x3);
	machine_reset(2, pages);
	assert_int_equal(try_domain("first-touch", 0x3), 0);
	machine_preempt_percent = 50;
	assert_int_equal(populate(0, 12), -ENOMEM);
	assert_int_equal(machine_owned(), 0);
	for (unsigned long gfn = 0; gfn < 4096; gfn++)
		assert_false(p2m[gfn].present);
}

static int set(uint32_t policy)
{
	struct xen_domctl_numa_policy_conf conf = { .policy = policy };

	return numa_policy_set(&dom, &conf);
}

static void a_refusal_changes_nothing(void **unused)
{
	static const int reasons[] = { -EXDEV, -EOPNOTSUPP, -EBUSY, -ENOMEM, -ESRCH };

	(void)unused;
	new_domain(0xf);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M), 0);
	assert_false(numa_policy_on_touch(&dom));
	for (unsigned int i = 0; i < ARRAY_SIZE(reasons); i++) {
		machine_may_be_untouched = reasons[i];
		assert_int_equal(set(XEN_NUMA_POLICY_FIRST_TOUCH), reasons[i]);
		assert_ptr_equal(dom.numa_policy->ops, &round_2m_ops);
	}
	machine_may_be_untouched = 0;
	assert_int_equal(set(XEN_NUMA_POLICY_FIRST_TOUCH), 0);
	assert_ptr_equal(dom.numa_policy->ops, &first_touch_ops);
}

/* As the default of the machine it gives way to one that is always possible. */
static void a_default_gives_way(void **unused)
{
	(void)unused;
	new_domain(0xf);
	machine_may_be_untouched = -EXDEV;
	assert_int_equal(try_domain("first-touch", 0xf), 0);
	assert_ptr_equal(dom.numa_policy->ops, &round_4k_ops);
	machine_may_be_untouched = -EOPNOTSUPP;
	assert_int_equal(try_domain("first-touch", 0xf), 0);
	assert_ptr_equal(dom.numa_policy->ops, &round_4k_ops);
	machine_may_be_untouched = 0;
	machine_may_use_altp2m = true;
	assert_int_equal(try_domain("first-touch", 0xf), 0);
	assert_ptr_equal(dom.numa_policy->ops, &round_4k_ops);
	assert_int_equal(set(XEN_NUMA_POLICY_FIRST_TOUCH), 0);	/* who says so means it */
	machine_may_use_altp2m = false;
	machine_may_be_untouched = -ENOMEM;
	assert_int_equal(try_domain("first-touch", 0xf), -ENOMEM);
	assert_null(dom.numa_policy);
}

static void out_of_memory_is_noticed(void **unused)
{
	struct numa_home home = { .nodes = { { 0x3 } }, .nr = 2, .weight = { 1, 1 } };

	(void)unused;
	for (unsigned int nth = 1; nth <= 2; nth++) {
		oom_arm(OOM_XEN, nth, true);
		assert_null(first_touch_ops.init(&first_touch_ops, &home));
	}
	oom_disarm();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vcpu_touches_on_its_node),
		cmocka_unit_test(outside_of_home_the_nearest_home_node),
		cmocka_unit_test(others_touch_on_the_home_nodes_in_turn),
		cmocka_unit_test(what_waits_is_divided_as_the_policy_wants),
		cmocka_unit_test(touches_are_counted),
		cmocka_unit_test(nothing_is_mapped_before),
		cmocka_unit_test(fragmented_memory_is_not_mapped_either),
		cmocka_unit_test(all_is_taken_back_when_memory_runs_out),
		cmocka_unit_test(a_refusal_changes_nothing),
		cmocka_unit_test(a_default_gives_way),
		cmocka_unit_test(out_of_memory_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
