/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs that write lines of each other, and who then misses, counted by hand. */
#include "test.h"

#include "sim.h"

#define LINE ((uint64_t)3 * GIB)	/* of node 3 */

/* An access as the plugin does it; virtual is machine address. */
static void use(struct sim *sim, unsigned int cpu, uint64_t address, bool store)
{
	enum hit hit = filter_use(sim->cpu[cpu]->l1, address, store);

	if (hit == HIT)
		return;
	filter_tag(sim->cpu[cpu]->l1, address, address >> LINE_SHIFT);
	sim_beyond_l1(sim, sim->cpu[cpu], hit, USER, address, store);
}

static uint64_t misses(const struct sim *sim, unsigned int cpu)
{
	return sim->cpu[cpu]->counts.misses[USER][3];
}

static uint64_t handed_over(const struct sim *sim, unsigned int cpu)
{
	return sim->cpu[cpu]->counts.handed_over[USER];
}

/* A message: one writes, the other reads, again and again. */
static void ping(struct sim *sim, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		use(sim, 0, LINE, true);
		use(sim, 0, LINE + 8, true);
		use(sim, 1, LINE, false);
		use(sim, 1, LINE + 8, false);
	}
}

static void a_message_is_a_miss(void **state)
{
	struct machine m = test_machine("coherent=yes", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	ping(sim, 10);
	assert_int_equal(misses(sim, 1), 10);
	assert_int_equal(handed_over(sim, 1), 10);
	/* the writer keeps its line, and the only one that was not there is the first */
	assert_int_equal(misses(sim, 0), 1);
	assert_int_equal(handed_over(sim, 0), 0);
	/* nobody else has to do with it */
	use(sim, 2, LINE + 64, true);
	assert_int_equal(handed_over(sim, 2), 0);
	/* in the next region all begins anew */
	use(sim, 0, LINE, true);
	sim_clear(sim);
	use(sim, 1, LINE, false);
	assert_int_equal(handed_over(sim, 1), 0);
	sim_free(sim);
	machine_free(&m);
}

static void without_coherence_it_is_none(void **state)
{
	struct machine m = test_machine("coherent=no", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	ping(sim, 10);
	assert_int_equal(misses(sim, 0) + misses(sim, 1), 2);
	assert_int_equal(handed_over(sim, 1), 0);
	sim_free(sim);
	machine_free(&m);
}

static void a_lock_goes_round(void **state)
{
	struct machine m = test_machine("coherent=yes", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	for (unsigned int round = 0; round < 5; round++)
		for (unsigned int cpu = 0; cpu < 8; cpu++)
			for (unsigned int i = 0; i < 3; i++) {
				use(sim, cpu, LINE, false);
				use(sim, cpu, LINE, true);
			}
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		assert_int_equal(misses(sim, cpu), 5);
		assert_int_equal(handed_over(sim, cpu), cpu ? 5 : 4);
	}
	sim_free(sim);
	machine_free(&m);
}

static void readers_leave_each_other_alone(void **state)
{
	struct machine m = test_machine("coherent=yes", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	for (unsigned int round = 0; round < 5; round++)
		for (unsigned int cpu = 0; cpu < 8; cpu++)
			use(sim, cpu, LINE, false);
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		assert_int_equal(misses(sim, cpu), 1);
	/* one writes: the others miss once, and it not at all */
	use(sim, 4, LINE, true);
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		use(sim, cpu, LINE, false);
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		assert_int_equal(misses(sim, cpu), cpu == 4 ? 1 : 2);
	sim_free(sim);
	machine_free(&m);
}

/* Also where the line has left the L1: out of the L2 and of another node's L3. */
static void all_levels_lose_it(void **state)
{
	struct machine m = test_machine("coherent=yes", "l1=128:2", "l2=256:4", "l3=512:8", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	for (unsigned int depth = 2; depth <= 8; depth += 6) {
		sim_clear(sim);
		use(sim, 1, LINE, true);
		for (unsigned int i = 0; i < depth; i++)
			use(sim, 1, (1 + i) * MIB, false);
		use(sim, 2, LINE, true);
		use(sim, 1, LINE, false);
		assert_int_equal(misses(sim, 1), 2);
		assert_int_equal(sim->cpu[1]->counts.l2_hits[USER] + sim->cpu[1]->counts.l3_hits[USER], 0);
		/* what was overwritten is not written back, but once by who wrote it last */
		for (unsigned int cpu = 1; cpu <= 2; cpu++)
			for (unsigned int i = 0; i < 20; i++)
				use(sim, cpu, (100 + i) * MIB, false);
		assert_int_equal(sim->cpu[1]->counts.write_backs[3], 0);
		assert_int_equal(sim->cpu[2]->counts.write_backs[3], 1);
	}
	sim_free(sim);
	machine_free(&m);
}

static void a_streaming_store_takes_it_from_all(void **state)
{
	struct machine m = test_machine("coherent=yes", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	use(sim, 1, LINE, false);
	use(sim, 2, LINE, false);
	filter_drop(sim->cpu[1]->l1, LINE);
	sim_stream(sim, sim->cpu[1], LINE);
	use(sim, 1, LINE, false);
	use(sim, 2, LINE, false);
	assert_int_equal(misses(sim, 1), 2);
	assert_int_equal(misses(sim, 2), 2);
	assert_int_equal(handed_over(sim, 2), 0);	/* it comes from memory */
	sim_free(sim);
	machine_free(&m);
}

/* CPUs of a node: what one left in their L3 the other one takes from there. */
static void a_node_shares_its_l3(void **state)
{
	char *words[] = { "out=/dev/null", "machine=none", "node=0-1@0-0x40000000", "coherent=yes", "l1=128:2", "l2=256:4", "l3=512:8" };
	struct machine m;
	struct sim *sim;

	(void)state;
	assert_null(machine_parse(&m, G_N_ELEMENTS(words), words, 2));
	sim = sim_new(&m);
	use(sim, 0, MIB, true);
	for (unsigned int i = 0; i < 6; i++)
		use(sim, 0, (2 + i) * MIB, false);
	use(sim, 1, MIB, true);
	assert_int_equal(sim->cpu[1]->counts.l3_hits[USER], 1);
	use(sim, 0, MIB, false);
	assert_int_equal(sim->cpu[0]->counts.misses[USER][0], 8);
	assert_int_equal(sim->cpu[0]->counts.handed_over[USER], 1);
	sim_free(sim);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_a_miss),
		cmocka_unit_test(without_coherence_it_is_none),
		cmocka_unit_test(a_lock_goes_round),
		cmocka_unit_test(readers_leave_each_other_alone),
		cmocka_unit_test(all_levels_lose_it),
		cmocka_unit_test(a_streaming_store_takes_it_from_all),
		cmocka_unit_test(a_node_shares_its_l3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
