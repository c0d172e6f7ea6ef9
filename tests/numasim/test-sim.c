/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams of accesses whose hits, misses and write-backs are known by hand. */
#include "test.h"

#include "sim.h"

/* 2 lines of L1, 4 of L2, 8 of L3, one set each */
#define TINY "l1=128:2", "l2=256:4", "l3=512:8"

/* An access as the plugin does it; virtual is machine address. */
static bool use(struct sim *sim, unsigned int cpu, enum mode mode, uint64_t address, bool store)
{
	enum hit hit = filter_use(sim->cpu[cpu]->l1, address, store);

	return hit != HIT && sim_beyond_l1(sim, sim->cpu[cpu], hit, mode, address, store);
}

static void lines(struct sim *sim, unsigned int cpu, uint64_t from, unsigned int n, bool store)
{
	for (unsigned int i = 0; i < n; i++)
		use(sim, cpu, USER, from + i * LINE_BYTES, store);
}

static uint64_t write_backs(const struct sim *sim, unsigned int cpu)
{
	uint64_t sum = 0;

	for (unsigned int node = 0; node < MAX_NODES; node++)
		sum += sim->cpu[cpu]->counts.write_backs[node];
	return sum;
}

static void misses_go_to_the_node_of_the_memory(void **state)
{
	struct machine m = test_machine(NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	for (unsigned int node = 0; node < 8; node++)
		lines(sim, 3, (uint64_t)node * GIB, 10 + node, false);
	use(sim, 3, USER, (uint64_t)GIB - 1, false);
	use(sim, 3, USER, (uint64_t)8 * GIB - 1, false);
	for (unsigned int node = 0; node < 8; node++)
		assert_int_equal(sim->cpu[3]->counts.misses[USER][node], 10 + node + (node == 0) + (node == 7));
	use(sim, 3, USER, (uint64_t)8 * GIB, false);
	assert_int_equal(sim->cpu[3]->counts.nowhere, 1);
	assert_int_equal(sim->cpu[3]->counts.nowhere_address, (uint64_t)8 * GIB);
	sim_free(sim);
	machine_free(&m);
}

static void modes_and_cpus_are_told_apart(void **state)
{
	struct machine m = test_machine("watch=1+2", NULL);
	struct sim *sim = sim_new(&m);

	(void)state;
	assert_null(sim->cpu[0]);
	assert_null(sim->cpu[3]);
	use(sim, 1, USER, 0x1000, false);
	use(sim, 1, KERNEL, 0x2000, false);
	use(sim, 1, KERNEL, 0x3000, false);
	use(sim, 2, XEN, 0x4000, false);
	assert_int_equal(sim->cpu[1]->counts.misses[USER][0], 1);
	assert_int_equal(sim->cpu[1]->counts.misses[KERNEL][0], 2);
	assert_int_equal(sim->cpu[1]->counts.misses[XEN][0], 0);
	assert_int_equal(sim->cpu[2]->counts.misses[XEN][0], 1);
	/* caches are each CPU's own when nodes are */
	use(sim, 2, USER, 0x1000, false);
	assert_int_equal(sim->cpu[2]->counts.misses[USER][0], 1);
	sim_free(sim);
	machine_free(&m);
}

static void each_level_serves_what_it_holds(void **state)
{
	struct machine m = test_machine(TINY, NULL);
	struct sim *sim = sim_new(&m);
	const struct counts *c = &sim->cpu[0]->counts;

	(void)state;
	for (int round = 0; round < 3; round++)
		lines(sim, 0, 0, 2, false);
	assert_int_equal(c->misses[USER][0], 2);
	assert_int_equal(c->l2_hits[USER] + c->l3_hits[USER], 0);

	/* 4 lines: too many for the L1, not for the L2 */
	lines(sim, 0, MIB, 4, false);
	assert_int_equal(c->misses[USER][0], 6);
	lines(sim, 0, MIB, 4, false);
	assert_int_equal(c->l2_hits[USER], 4);

	/* L2 and L3 together hold 12, one does not hold a copy of the other */
	sim_clear(sim);
	lines(sim, 0, 2 * MIB, 12, false);
	lines(sim, 0, 2 * MIB, 12, false);
	assert_int_equal(c->misses[USER][0], 12);
	assert_int_equal(c->l3_hits[USER], 12);
	/* 13 in turn are driven out just before they come again */
	sim_clear(sim);
	lines(sim, 0, 2 * MIB, 13, false);
	lines(sim, 0, 2 * MIB, 13, false);
	assert_int_equal(c->misses[USER][0], 26);
	sim_free(sim);
	machine_free(&m);
}

static void written_lines_come_back(void **state)
{
	struct machine m = test_machine(TINY, NULL);
	struct sim *sim = sim_new(&m);
	const struct counts *c = &sim->cpu[0]->counts;

	(void)state;
	lines(sim, 0, 5 * (uint64_t)GIB, 30, true);
	assert_int_equal(c->misses[USER][5], 30);
	assert_int_equal(c->write_backs[5], 18);	/* 12 are in the caches */
	lines(sim, 0, 0, 12, false);
	assert_int_equal(c->write_backs[5], 30);
	lines(sim, 0, MIB, 30, false);			/* nothing is written twice, reads never are */
	assert_int_equal(write_backs(sim, 0), 30);

	/* read first and written in the L1: dirty below, without another miss */
	sim_clear(sim);
	lines(sim, 0, MIB, 1, false);
	lines(sim, 0, MIB, 1, true);
	assert_int_equal(c->misses[USER][0], 1);
	lines(sim, 0, 2 * MIB, 12, false);
	assert_int_equal(c->misses[USER][0], 13);
	assert_int_equal(write_backs(sim, 0), 1);
	sim_free(sim);
	machine_free(&m);
}

/* A line that the L1 keeps hot can leave L2 and L3; a store to it is no miss, and it is written back in the end. */
static void a_line_only_the_l1_has(void **state)
{
	struct machine m = test_machine("l1=128:2", "l2=64:1", "l3=64:1", NULL);
	struct sim *sim = sim_new(&m);
	const struct counts *c = &sim->cpu[0]->counts;

	(void)state;
	for (unsigned int i = 1; i < 5; i++) {
		lines(sim, 0, 0, 1, false);
		lines(sim, 0, i * MIB, 1, false);
	}
	assert_int_equal(c->misses[USER][0], 5);
	lines(sim, 0, 0, 1, true);
	assert_int_equal(c->misses[USER][0], 5);
	assert_int_equal(write_backs(sim, 0), 0);
	lines(sim, 0, 8 * MIB, 3, false);
	assert_int_equal(write_backs(sim, 0), 1);
	sim_free(sim);
	machine_free(&m);
}

static struct machine two_cpus_of_a_node(void)
{
	char *words[] = { "out=/dev/null", "machine=none", "node=0-1@0-0x40000000", TINY };
	struct machine m;

	assert_null(machine_parse(&m, G_N_ELEMENTS(words), words, 2));
	return m;
}

static void l3_is_shared_in_a_node(void **state)
{
	struct machine m = two_cpus_of_a_node();
	struct sim *sim = sim_new(&m);

	(void)state;
	lines(sim, 0, 0, 12, false);			/* 8 of them are in the L3, the last 4 in the L2 of CPU 0 */
	lines(sim, 1, 0, 8, false);
	assert_int_equal(sim->cpu[1]->counts.l3_hits[USER], 8);
	assert_int_equal(sim->cpu[1]->counts.misses[USER][0], 0);
	lines(sim, 1, 8 * LINE_BYTES, 4, false);
	assert_int_equal(sim->cpu[1]->counts.misses[USER][0], 4);
	sim_free(sim);
	machine_free(&m);
}

static void one_of_all_is_told_to_look(void **state)
{
	struct machine m = test_machine("epoch=50000", NULL);
	struct sim *sim = sim_new(&m);
	unsigned int looks = 0;

	(void)state;
	for (unsigned int i = 0; i < 12800; i++)
		for (unsigned int cpu = 0; cpu < 8; cpu++)
			looks += use(sim, cpu, USER, (uint64_t)i * LINE_BYTES, false);
	assert_int_equal(looks, 8 * 12800 / 1000);
	sim_free(sim);
	machine_free(&m);
}

/* A streaming store as the plugin does it. */
static void stream(struct sim *sim, unsigned int cpu, uint64_t address)
{
	filter_drop(sim->cpu[cpu]->l1, address);
	sim_stream(sim, sim->cpu[cpu], address);
}

static void streaming_stores_pass_the_caches(void **state)
{
	struct machine m = test_machine(TINY, NULL);
	struct sim *sim = sim_new(&m);
	const struct counts *counts = &sim->cpu[0]->counts;

	(void)state;
	/* lines 0 and 1 are written, and in the L1; 4 and 5 only in the L2, 8 in the L3 */
	lines(sim, 0, 8 * LINE_BYTES, 1, true);
	lines(sim, 0, 16 * LINE_BYTES, 2, true);
	lines(sim, 0, 4 * LINE_BYTES, 2, true);
	lines(sim, 0, 0, 2, true);
	assert_int_equal(counts->misses[USER][0], 7);
	for (unsigned int word = 0; word < 8; word++)
		stream(sim, 0, word * 8);
	stream(sim, 0, 4 * LINE_BYTES);
	stream(sim, 0, 8 * LINE_BYTES);
	assert_int_equal(write_backs(sim, 0), 3);
	assert_int_equal(counts->misses[USER][0], 7);
	assert_int_equal(counts->l2_hits[USER] + counts->l3_hits[USER], 0);
	/* what was not streamed is still there */
	lines(sim, 0, 1 * LINE_BYTES, 1, false);
	assert_int_equal(counts->l2_hits[USER] + counts->l3_hits[USER], 0);
	lines(sim, 0, 5 * LINE_BYTES, 1, false);
	assert_int_equal(counts->l2_hits[USER], 1);
	assert_int_equal(counts->misses[USER][0], 7);
	/* what was is not */
	lines(sim, 0, 0, 1, false);
	lines(sim, 0, 4 * LINE_BYTES, 1, false);
	lines(sim, 0, 8 * LINE_BYTES, 1, false);
	assert_int_equal(counts->misses[USER][0], 10);
	/* combined, but dropped again */
	stream(sim, 0, 8 * LINE_BYTES);
	lines(sim, 0, 8 * LINE_BYTES, 1, false);
	assert_int_equal(write_backs(sim, 0), 3);
	assert_int_equal(counts->misses[USER][0], 11);
	/* not across regions; to the node of the memory; nowhere */
	sim_clear(sim);
	stream(sim, 0, 8 * LINE_BYTES);
	stream(sim, 0, (uint64_t)3 * GIB);
	stream(sim, 0, 8 * LINE_BYTES);			/* one line is combined at a time */
	stream(sim, 0, (uint64_t)8 * GIB);
	assert_int_equal(counts->write_backs[0], 2);
	assert_int_equal(counts->write_backs[3], 1);
	assert_int_equal(counts->nowhere, 1);
	sim_free(sim);
	machine_free(&m);
}

/* What one CPU has in its L2, another one may have left in the L3. */
static void streaming_stores_pass_both_copies(void **state)
{
	struct machine m = two_cpus_of_a_node();
	struct sim *sim = sim_new(&m);

	(void)state;
	lines(sim, 0, 0, 1, true);
	lines(sim, 1, 0, 1, true);
	lines(sim, 1, MIB, 4, false);			/* drives CPU 1's into the L3 */
	stream(sim, 0, 0);
	lines(sim, 0, 0, 1, false);
	assert_int_equal(sim->cpu[0]->counts.l3_hits[USER], 0);
	assert_int_equal(sim->cpu[0]->counts.misses[USER][0], 2);
	lines(sim, 0, 2 * MIB, 12, false);		/* what was overwritten is not written back */
	assert_int_equal(write_backs(sim, 0) + write_backs(sim, 1), 1);
	sim_free(sim);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses_go_to_the_node_of_the_memory),
		cmocka_unit_test(modes_and_cpus_are_told_apart),
		cmocka_unit_test(each_level_serves_what_it_holds),
		cmocka_unit_test(written_lines_come_back),
		cmocka_unit_test(a_line_only_the_l1_has),
		cmocka_unit_test(l3_is_shared_in_a_node),
		cmocka_unit_test(one_of_all_is_told_to_look),
		cmocka_unit_test(streaming_stores_pass_the_caches),
		cmocka_unit_test(streaming_stores_pass_both_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
