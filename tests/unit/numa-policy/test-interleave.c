/* SPDX-License-Identifier: GPL-2.0-only */
/* Interleaving against a model that takes every step from gfn 0 on. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"

static const struct numa_policy_ops *const all[] = {
	&round_4k_ops, &round_2m_ops, &round_1g_ops,
};
static const unsigned int orders[] = { 0, 9, 18 };

static struct numa_home home_of(unsigned long nodes, const uint8_t *weight)
{
	struct numa_home home = { .nodes = { { nodes } }, .nr = __builtin_popcountl(nodes) };

	memcpy(home.weight, weight, home.nr);
	return home;
}

static nodeid_t nth_node(const struct numa_home *home, unsigned int i)
{
	nodeid_t n;

	for_each_node_mask(n, home->nodes)
		if (!i--)
			return n;
	abort();
}

/*
 * The node of every slot, without turn, divisor or table: credits as the
 * design says, with the weights as they were given.
 */
static void model(const struct numa_home *home, unsigned int slots, nodeid_t *out)
{
	long credit[MAX_NUMNODES] = { 0 }, sum = 0;

	for (unsigned int i = 0; i < home->nr; i++)
		sum += home->weight[i];

	for (unsigned int s = 0; s < slots; s++) {
		unsigned int best = 0;

		for (unsigned int i = 0; i < home->nr; i++)
			credit[i] += home->weight[i];
		for (unsigned int i = 1; i < home->nr; i++)
			if (credit[i] > credit[best])
				best = i;
		credit[best] -= sum;
		out[s] = nth_node(home, best);
	}
}

static void compare(const struct numa_home *home, unsigned int slots)
{
	nodeid_t *expected = malloc(slots);

	model(home, slots, expected);
	for (unsigned int p = 0; p < ARRAY_SIZE(all); p++) {
		void *st = all[p]->init(all[p], home);

		assert_non_null(st);
		assert_int_equal(all[p]->grain, orders[p]);
		for (unsigned int s = 0; s < slots; s++) {
			unsigned long first = (unsigned long)s << orders[p];

			assert_int_equal(all[p]->place(st, _gfn(first), NULL), expected[s]);
			assert_int_equal(all[p]->place(st, _gfn(first + (1UL << orders[p]) - 1), NULL),
					 expected[s]);
		}
		all[p]->destroy(st);
	}
	free(expected);
}

static void equal_weights_take_turns(void **unused)
{
	const uint8_t ones[MAX_NUMNODES] = { [0 ... MAX_NUMNODES - 1] = 7 };

	(void)unused;
	for (unsigned int nr = 1; nr <= MAX_NUMNODES; nr++) {
		unsigned long nodes = nr == 64 ? ~0UL : ((1UL << nr) - 1);
		struct numa_home home = home_of(nodes, ones);
		void *st = round_4k_ops.init(&round_4k_ops, &home);

		for (unsigned long g = 0; g < 1000; g++)
			assert_int_equal(round_4k_ops.place(st, _gfn(g), NULL), g % nr);
		round_4k_ops.destroy(st);
		compare(&home, 200);
	}
}

static void a_heavy_node_is_spread_out(void **unused)
{
	const uint8_t weight[] = { 3, 1 };
	const nodeid_t expected[] = { 2, 2, 5, 2 };
	struct numa_home home = home_of(1UL << 2 | 1UL << 5, weight);
	void *st = round_2m_ops.init(&round_2m_ops, &home);

	(void)unused;
	for (unsigned int s = 0; s < 40; s++)
		assert_int_equal(round_2m_ops.place(st, _gfn(s * 512UL), NULL), expected[s % 4]);
	round_2m_ops.destroy(st);
}

static void random_weights_follow_the_model(void **unused)
{
	(void)unused;
	test_seed();
	for (unsigned int round = 0; round < 300; round++) {
		uint8_t weight[MAX_NUMNODES];
		unsigned long nodes = 0;
		unsigned int common = 1 + rnd(8);
		struct numa_home home;

		while (!nodes)
			for (unsigned int n = 0; n < MAX_NUMNODES; n++)
				nodes |= (unsigned long)(rnd(100) < 1 + round % 60) << n;
		for (unsigned int i = 0; i < MAX_NUMNODES; i++)
			weight[i] = common * (1 + rnd(255 / common));
		home = home_of(nodes, weight);
		compare(&home, 5000);
	}
}

static void a_turn_is_exact(void **unused)
{
	(void)unused;
	test_seed();
	for (unsigned int round = 0; round < 100; round++) {
		uint8_t weight[MAX_NUMNODES];
		unsigned long count[MAX_NUMNODES] = { 0 }, sum = 0;
		unsigned int nr = 1 + rnd(16);
		struct numa_home home;
		void *st;

		for (unsigned int i = 0; i < nr; i++)
			sum += weight[i] = 1 + rnd(255);
		home = home_of((1UL << nr) - 1, weight);
		st = round_4k_ops.init(&round_4k_ops, &home);
		for (unsigned long g = 0; g < 3 * sum; g++)
			count[round_4k_ops.place(st, _gfn(g), NULL)]++;
		for (unsigned int i = 0; i < nr; i++)
			assert_int_equal(count[i], 3 * weight[i]);
		round_4k_ops.destroy(st);
	}
}

static void high_gfns_do_not_overflow(void **unused)
{
	const uint8_t weight[] = { 255, 254, 253 };
	struct numa_home home = home_of(7, weight);
	void *st = round_4k_ops.init(&round_4k_ops, &home);

	(void)unused;
	assert_true(round_4k_ops.place(st, _gfn(~0UL), NULL) < 3);
	assert_true(round_4k_ops.place(st, _gfn(1UL << 52), NULL) < 3);
	round_4k_ops.destroy(st);
}

static void no_memory_is_told(void **unused)
{
	const uint8_t weight[] = { 1, 1 };
	struct numa_home home = home_of(3, weight);

	(void)unused;
	oom_arm(OOM_XEN, 1, true);
	assert_null(round_4k_ops.init(&round_4k_ops, &home));
	oom_disarm();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_weights_take_turns),
		cmocka_unit_test(a_heavy_node_is_spread_out),
		cmocka_unit_test(random_weights_follow_the_model),
		cmocka_unit_test(a_turn_is_exact),
		cmocka_unit_test(high_gfns_do_not_overflow),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests_name("interleave", tests, NULL, NULL);
}
