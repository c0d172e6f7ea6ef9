/* SPDX-License-Identifier: GPL-2.0-only */
/* Which policy a domain has, over which home nodes; what is refused. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

static struct domain dom;
static struct domain control;
static struct vcpu caller = { .domain = &control };

static int setup(void **unused)
{
	/* Node 2 has CPUs only. */
	const unsigned long pages[] = { 100, 100, 0, 100 };

	(void)unused;
	machine_reset(4, pages);
	assert_int_equal(test_param("round-4k"), 0);
	dom = (struct domain){ .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = 0xf;
	current = &caller;
	return domain_numa_policy_init(&dom);
}

static int teardown(void **unused)
{
	(void)unused;
	domain_numa_policy_destroy(&dom);
	return 0;
}

static int set(uint32_t policy, uint64_t nodes, uint32_t nr, const uint32_t *weights)
{
	struct xen_domctl_numa_policy_conf conf = { .policy = policy, .nr_weights = nr };

	conf.nodes.nr_bits = 64;
	conf.nodes.bitmap.p = (uint8_t *)&nodes;
	conf.weights.p = (uint32_t *)weights;
	return numa_policy_set(&dom, &conf);
}

static void expect(uint32_t policy, uint64_t home, bool follows)
{
	struct xen_domctl_numa_policy_conf conf = { .nr_weights = 64 };
	uint32_t weights[64];
	uint64_t nodes = 0;

	conf.nodes.nr_bits = 64;
	conf.nodes.bitmap.p = (uint8_t *)&nodes;
	conf.weights.p = weights;
	assert_int_equal(numa_policy_get(&dom, &conf), 0);
	assert_int_equal(conf.policy, policy);
	assert_int_equal(nodes, home);
	assert_int_equal(conf.follows_affinity, follows);
	assert_int_equal(conf.nr_weights, __builtin_popcountll(home));
}

static void expect_weights(uint64_t home, const uint32_t *expected)
{
	struct xen_domctl_numa_policy_conf conf = { .nr_weights = 64 };
	uint32_t weights[64];
	uint64_t nodes = 0;

	conf.nodes.nr_bits = 64;
	conf.nodes.bitmap.p = (uint8_t *)&nodes;
	conf.weights.p = weights;
	assert_int_equal(numa_policy_get(&dom, &conf), 0);
	assert_int_equal(nodes, home);
	assert_int_equal(conf.nr_weights, __builtin_popcountll(home));
	assert_memory_equal(weights, expected, conf.nr_weights * sizeof(*weights));
}

/* Before the option was given for the first time. */
static void nobody_has_a_policy_without_asking(void **unused)
{
	const unsigned long pages[] = { 100, 100 };

	(void)unused;
	machine_reset(2, pages);
	dom = (struct domain){ .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = 3;
	assert_int_equal(domain_numa_policy_init(&dom), 0);
	assert_false(domain_has_numa_policy(&dom));
	expect(XEN_NUMA_POLICY_NONE, 3, true);
	domain_numa_policy_destroy(&dom);
}

static void the_option_knows_its_values(void **unused)
{
	(void)unused;
	assert_string_equal(test_param_name, "numa-policy");
	assert_int_equal(test_param("none"), 0);
	assert_int_equal(test_param("round-2m"), 0);
	assert_int_equal(test_param("round-1g"), 0);
	assert_int_equal(test_param("round-4K"), -EINVAL);
	assert_int_equal(test_param("round-4k,none"), -EINVAL);
	assert_int_equal(test_param(""), -EINVAL);
}

static void who_has_a_policy(void **unused)
{
	struct domain pv = { .hvm = false }, hw = { .hvm = true, .hardware = true };

	(void)unused;
	hw.node_affinity.bits[0] = 1;
	assert_int_equal(domain_numa_policy_init(&pv), 0);
	assert_null(pv.numa_policy);
	assert_false(domain_has_numa_policy(&pv));
	assert_int_equal(domain_numa_policy_init(&hw), 0);
	assert_false(domain_has_numa_policy(&hw));
	domain_numa_policy_destroy(&hw);
	domain_numa_policy_destroy(&pv);
	assert_true(domain_has_numa_policy(&dom));
}

static void home_nodes_have_memory(void **unused)
{
	(void)unused;
	expect(XEN_NUMA_POLICY_ROUND_4K, 0xb, true);

	/* CPUs without memory: the closest memory. */
	test_distance[2][3] = 12;
	dom.node_affinity.bits[0] = 4;
	expect(XEN_NUMA_POLICY_ROUND_4K, 8, true);
}

/* Two nodes without memory, each with another one close to it; a node that is not there has none. */
static void home_nodes_are_close_to_each(void **unused)
{
	const unsigned long pages[] = { 100, 100, 0, 0 };

	(void)unused;
	machine_reset(4, pages);
	test_distance[2][1] = test_distance[3][0] = 12;
	dom.node_affinity.bits[0] = 8;
	expect(XEN_NUMA_POLICY_ROUND_4K, 1, true);
	dom.node_affinity.bits[0] = 0xc;
	expect(XEN_NUMA_POLICY_ROUND_4K, 3, true);
	dom.node_affinity.bits[0] = 0x14;
	expect(XEN_NUMA_POLICY_ROUND_4K, 2, true);
	dom.node_affinity.bits[0] = 0x10;
	expect(XEN_NUMA_POLICY_ROUND_4K, 1, true);
}

/* A toolstack has placed it, and its vCPUs were sent elsewhere. */
static void home_nodes_follow_vcpus(void **unused)
{
	nodemask_t *vcpus = numa_policy_vcpu_nodes(&dom);

	(void)unused;
	dom.node_affinity.bits[0] = 3;
	expect(XEN_NUMA_POLICY_ROUND_4K, 3, true);
	vcpus->bits[0] = 8;
	expect(XEN_NUMA_POLICY_ROUND_4K, 8, true);
	/* On one of its nodes, and on another. */
	vcpus->bits[0] = 0xa;
	expect(XEN_NUMA_POLICY_ROUND_4K, 2, true);
	/* What Xen derives from the vCPUs says it by itself. */
	dom.auto_node_affinity = true;
	expect(XEN_NUMA_POLICY_ROUND_4K, 3, true);
	dom.auto_node_affinity = false;
	/* Those that were named stay. */
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 9, 0, NULL), 0);
	expect(XEN_NUMA_POLICY_ROUND_2M, 9, false);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 0, 0, NULL), 0);
	expect(XEN_NUMA_POLICY_ROUND_2M, 2, true);
	/* All there is is a node without memory. */
	test_distance[2][3] = 12;
	vcpus->bits[0] = 4;
	expect(XEN_NUMA_POLICY_ROUND_2M, 8, true);
}

static void home_nodes_follow_the_affinity_unless_named(void **unused)
{
	(void)unused;
	dom.node_affinity.bits[0] = 2;
	expect(XEN_NUMA_POLICY_ROUND_4K, 2, true);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 9, 0, NULL), 0);
	expect(XEN_NUMA_POLICY_ROUND_2M, 9, false);
	dom.node_affinity.bits[0] = 1;
	expect(XEN_NUMA_POLICY_ROUND_2M, 9, false);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 0, 0, NULL), 0);
	expect(XEN_NUMA_POLICY_ROUND_2M, 1, true);

	/* No memory for the new state: the old one stays, until there is some. */
	dom.node_affinity.bits[0] = 3;
	for (unsigned int nth = 1; nth <= 2; nth++) {
		oom_arm(OOM_XEN, nth, false);
		expect(XEN_NUMA_POLICY_ROUND_2M, 1, true);
	}
	oom_disarm();
	expect(XEN_NUMA_POLICY_ROUND_2M, 3, true);
}

static void weights_belong_to_home_nodes(void **unused)
{
	const uint32_t w[] = { 3, 1, 255 };

	(void)unused;
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 3, w), 0);
	expect_weights(0xb, (uint32_t[]){ 3, 1, 255 });

	/* Some of these nodes have the weights that they had. */
	dom.node_affinity.bits[0] = 3;
	expect_weights(3, (uint32_t[]){ 3, 1 });
	dom.node_affinity.bits[0] = 9;
	expect_weights(9, (uint32_t[]){ 3, 255 });
	dom.node_affinity.bits[0] = 0xf;
	expect_weights(0xb, (uint32_t[]){ 3, 1, 255 });
}

static void other_nodes_have_none_of_them(void **unused)
{
	(void)unused;
	dom.node_affinity.bits[0] = 3;
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 2, (uint32_t[]){ 3, 7 }), 0);
	expect_weights(3, (uint32_t[]){ 3, 7 });

	/* As many, all of them others or one; more; none that has memory. */
	dom.node_affinity.bits[0] = 9;
	expect_weights(9, (uint32_t[]){ 1, 1 });
	dom.node_affinity.bits[0] = 0xb;
	expect_weights(0xb, (uint32_t[]){ 1, 1, 1 });
	test_distance[2][3] = 12;
	dom.node_affinity.bits[0] = 4;
	expect_weights(8, (uint32_t[]){ 1 });

	/* Until they are the home nodes again. */
	dom.node_affinity.bits[0] = 2;
	expect_weights(2, (uint32_t[]){ 7 });
	dom.node_affinity.bits[0] = 3;
	expect_weights(3, (uint32_t[]){ 3, 7 });

	/* What is set without weights has none, nor has what is set with others those of before. */
	dom.node_affinity.bits[0] = 0xa;
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 2, (uint32_t[]){ 5, 2 }), 0);
	expect_weights(0xa, (uint32_t[]){ 5, 2 });
	dom.node_affinity.bits[0] = 3;
	expect_weights(3, (uint32_t[]){ 1, 1 });
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 0, NULL), 0);
	dom.node_affinity.bits[0] = 0xa;
	expect_weights(0xa, (uint32_t[]){ 1, 1 });
}

static void nonsense_is_refused_and_changes_nothing(void **unused)
{
	const uint32_t zero[] = { 1, 0, 1 }, big[] = { 1, 256, 1 }, fine[] = { 1, 2, 3 };
	struct xen_domctl_numa_policy_conf conf;
	uint8_t bytes[16] = { 1 };

	(void)unused;
	assert_int_equal(set(XEN_NUMA_POLICY_FIRST_TOUCH + 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(set(~0U, 0, 0, NULL), -EINVAL);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 4, 0, NULL), -ENODEV);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 1UL << 63, 0, NULL), -ENODEV);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 2, fine), -EDOM);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, ~0U, fine), -EDOM);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 3, zero), -ERANGE);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 3, big), -ERANGE);
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_4K, 0, 3, NULL), -EFAULT);
	for (unsigned int nth = 1; nth <= 3; nth++) {
		oom_arm(OOM_XEN, nth, false);
		assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 0, 0, NULL), -ENOMEM);
	}
	oom_disarm();

	memset(&conf, 0, sizeof(conf));
	conf.nodes.nr_bits = 128;
	conf.nodes.bitmap.p = bytes;
	assert_int_equal(numa_policy_set(&dom, &conf), -E2BIG);
	assert_int_equal(numa_policy_get(&dom, &conf), -E2BIG);
	conf.nodes.nr_bits = 8;
	conf.vnuma = 1;
	assert_int_equal(numa_policy_set(&dom, &conf), -EINVAL);
	assert_int_equal(numa_policy_get(&dom, &conf), -EINVAL);
	conf.vnuma = 0;
	conf.pad = 1;
	assert_int_equal(numa_policy_set(&dom, &conf), -EINVAL);
	assert_int_equal(numa_policy_get(&dom, &conf), -EINVAL);
	conf.pad = 0;
	conf.follows_affinity = 1;
	assert_int_equal(numa_policy_set(&dom, &conf), -EINVAL);
	conf.follows_affinity = 0;
	conf.fallback = 1;
	assert_int_equal(numa_policy_set(&dom, &conf), -EINVAL);

	expect(XEN_NUMA_POLICY_ROUND_4K, 0xb, true);
}

static bool has_vnuma(void)
{
	struct xen_domctl_numa_policy_conf conf = { 0 };
	uint32_t none;

	conf.weights.p = &none;
	assert_int_equal(numa_policy_get(&dom, &conf), 0);
	return conf.vnuma;
}

static const char topology;

/* XEN_DOMCTL_setvnumainfo */
static void get_vnuma(void)
{
	dom.vnuma = (const struct vnuma_info *)&topology;
	domain_numa_policy_yield(&dom);
}

static void vnuma_is_a_placement_of_its_own(void **unused)
{
	struct domain pv = { .hvm = false };

	(void)unused;
	assert_false(has_vnuma());
	assert_int_equal(set(XEN_NUMA_POLICY_ROUND_2M, 9, 2, (uint32_t[]){ 3, 7 }), 0);
	for (unsigned int times = 0; times < 2; times++) {
		get_vnuma();
		assert_true(has_vnuma());
		assert_false(domain_has_numa_policy(&dom));
		expect(XEN_NUMA_POLICY_NONE, 9, false);
		expect_weights(9, (uint32_t[]){ 1, 1 });
		for (uint32_t policy = XEN_NUMA_POLICY_ROUND_4K; policy <= XEN_NUMA_POLICY_FIRST_TOUCH; policy++)
			assert_int_equal(set(policy, 0, 0, NULL), -EEXIST);
		expect(XEN_NUMA_POLICY_NONE, 9, false);
	}
	assert_int_equal(set(XEN_NUMA_POLICY_NONE, 0, 0, NULL), 0);
	expect(XEN_NUMA_POLICY_NONE, 0xb, true);

	/* The home nodes still follow, but that brings no policy back. */
	dom.node_affinity.bits[0] = 2;
	expect(XEN_NUMA_POLICY_NONE, 2, true);

	domain_numa_policy_yield(&pv);
}

static unsigned int locks_until;	/* 0: it came */

static void vnuma_comes(void)
{
	if (!locks_until || --locks_until)
		return;
	machine_at_lock = NULL;
	get_vnuma();
}

/* And it has begun to come, for all to see. */
static void vnuma_is_on_its_way(void)
{
	if (!locks_until || --locks_until)
		return;
	dom.vnuma = (const struct vnuma_info *)&topology;
}

static int set_another(void)
{
	return set(XEN_NUMA_POLICY_ROUND_2M, 0, 0, NULL);
}

static int refresh(void)
{
	return numa_policy_refresh(&dom);
}

/* At each lock that it takes; how many these are. */
static unsigned int meanwhile(void (*at_lock)(void), int (*operation)(void), int refusal)
{
	unsigned int at = 0, left;
	int rc;

	do {
		assert_int_equal(setup(NULL), 0);
		dom.node_affinity.bits[0] = 3;
		locks_until = ++at;
		machine_at_lock = at_lock;
		rc = operation();
		machine_at_lock = NULL;
		left = locks_until;
		assert_true(!rc || (!left && rc == refusal));
		if (left || at_lock == vnuma_is_on_its_way)
			get_vnuma();
		expect(XEN_NUMA_POLICY_NONE, 3, true);
		teardown(NULL);
	} while (!left);
	return at - 1;
}

static void vnuma_wins_whoever_comes_first(void **unused)
{
	(void)unused;
	assert_int_equal(meanwhile(vnuma_comes, set_another, -EEXIST), 2);
	assert_int_equal(meanwhile(vnuma_is_on_its_way, set_another, -EEXIST), 2);
	assert_int_equal(meanwhile(vnuma_comes, refresh, 0), 3);
	assert_int_equal(meanwhile(vnuma_is_on_its_way, refresh, 0), 3);
}

static void get_writes_no_more_than_there_is_room_for(void **unused)
{
	struct xen_domctl_numa_policy_conf conf = { .nr_weights = 1 };
	uint32_t weights[] = { 77, 77 };
	uint8_t nodes[] = { 0, 99 };

	(void)unused;
	conf.nodes.nr_bits = 8;
	conf.nodes.bitmap.p = nodes;
	conf.weights.p = weights;
	assert_int_equal(numa_policy_get(&dom, &conf), 0);
	assert_int_equal(conf.nr_weights, 3);
	assert_int_equal(weights[0], 1);
	assert_int_equal(weights[1], 77);
	assert_int_equal(nodes[0], 0xb);
	assert_int_equal(nodes[1], 99);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_has_a_policy_without_asking),
		TEST(the_option_knows_its_values),
		TEST(who_has_a_policy),
		TEST(home_nodes_have_memory),
		TEST(home_nodes_are_close_to_each),
		TEST(home_nodes_follow_vcpus),
		TEST(home_nodes_follow_the_affinity_unless_named),
		TEST(weights_belong_to_home_nodes),
		TEST(other_nodes_have_none_of_them),
		TEST(nonsense_is_refused_and_changes_nothing),
		TEST(vnuma_is_a_placement_of_its_own),
		cmocka_unit_test(vnuma_wins_whoever_comes_first),
		TEST(get_writes_no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
