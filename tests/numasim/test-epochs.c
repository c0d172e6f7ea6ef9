/* SPDX-License-Identifier: GPL-2.0-only */
/* Epochs come from what each CPU did, whatever the order in which a busy host let it be seen. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "epochs.h"

#define CPUS 8
#define PIECE 20000	/* misses */

struct setting {
	struct machine machine;
	struct model model;
	struct windows windows;
	struct totals totals;
};

static struct setting *new_setting(void)
{
	struct setting *s = g_new0(struct setting, 1);

	s->machine = test_machine("stands-for=6", NULL);
	assert_null(model_init(&s->model, &s->machine));
	windows_init(&s->windows, CPUS);
	return s;
}

static void free_setting(struct setting *s)
{
	windows_free(&s->windows);
	machine_free(&s->machine);
	g_free(s);
}

static void add(struct setting *s, unsigned int cpu, unsigned int node, double misses)
{
	windows_next(&s->windows)[cpu].misses[node] += misses;
}

/* Pieces of all CPUs, one of each in turn. */
static void in_turn(struct setting *s, unsigned int pieces, unsigned int (*node)(unsigned int cpu, unsigned int piece))
{
	for (unsigned int piece = 0; piece < pieces; piece++)
		for (unsigned int cpu = 0; cpu < CPUS; cpu++)
			add(s, cpu, node(cpu, piece), PIECE);
}

/* The same pieces; the host takes one CPU after the other, in another order each round, for four to ten pieces. */
static void in_disorder(struct setting *s, unsigned int pieces, unsigned int (*node)(unsigned int cpu, unsigned int piece))
{
	unsigned int order[CPUS], done[CPUS] = { 0 }, left = pieces * CPUS;

	for (unsigned int i = 0; i < CPUS; i++)
		order[i] = i;
	for (unsigned int turn = 0; left; turn++) {
		unsigned int *next = &order[turn % CPUS], *other = &order[turn % CPUS + rand() % (CPUS - turn % CPUS)];
		unsigned int cpu = *other, slice = 4 + rand() % 7;

		*other = *next;
		*next = cpu;
		for (; slice && done[cpu] < pieces; slice--, left--)
			add(s, cpu, node(cpu, done[cpu]++), PIECE);
	}
}

static void run(struct setting *s)
{
	epochs_add(&s->model, &s->windows, &s->totals);
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance * wanted))
		fail_msg("%g should be %g", value, wanted);
}

static double contended(const struct setting *s, unsigned int cpu)
{
	return s->totals.cpu[cpu].contended;
}

static unsigned int everywhere(unsigned int cpu, unsigned int piece)
{
	return (cpu + piece) % 8;
}

static unsigned int all_on_0(unsigned int cpu, unsigned int piece)
{
	(void)cpu;
	(void)piece;
	return 0;
}

/* For the first half of its work each uses its own node, then all use one. */
static unsigned int own_then_5(unsigned int cpu, unsigned int piece)
{
	return piece < 50 ? cpu : 5;
}

static void the_host_s_order_does_not_matter(void **state)
{
	unsigned int (*const nodes[])(unsigned int, unsigned int) = { everywhere, all_on_0, own_then_5 };

	(void)state;
	for (unsigned int i = 0; i < G_N_ELEMENTS(nodes); i++) {
		struct setting *even = new_setting();

		in_turn(even, 100, nodes[i]);
		run(even);
		assert_int_equal(even->totals.epochs, 16);
		for (unsigned int seed = 1; seed <= 10; seed++) {
			struct setting *odd = new_setting();

			srand(seed);
			in_disorder(odd, 100, nodes[i]);
			run(odd);
			assert_near(odd->totals.duration, even->totals.duration, 0.01);
			assert_near(odd->totals.busiest_link, even->totals.busiest_link, 0.02);
			for (unsigned int cpu = 0; cpu < CPUS; cpu++)
				assert_near(contended(odd, cpu), contended(even, cpu), 0.01);
			free_setting(odd);
		}
		free_setting(even);
	}
}

/* 100 pieces alone, before the others begin: at the latency alone, and one after the other. */
static void a_master_works_alone(void **state)
{
	struct setting *s = new_setting(), *parallel = new_setting();
	double alone;

	(void)state;
	srand(1);
	in_turn(parallel, 100, all_on_0);
	run(parallel);
	s->machine.stands_for = 1;	/* six threads of a master would wait for each other */
	for (unsigned int piece = 0; piece < 100; piece++)
		add(s, 0, 0, PIECE);
	run(s);
	alone = s->totals.duration;
	assert_near(alone, 100 * PIECE * 156, 1e-6);
	free_setting(s);

	s = new_setting();
	/* a few accesses of CPUs that are not in yet */
	for (unsigned int cpu = 1; cpu < CPUS; cpu++)
		add(s, cpu, 0, 100);
	for (unsigned int piece = 0; piece < 100; piece++)
		add(s, 0, 0, PIECE);
	run(s);
	alone = s->totals.duration;
	memset(&s->totals, 0, sizeof(s->totals));
	in_disorder(s, 100, all_on_0);
	run(s);
	assert_near(s->totals.duration, alone + parallel->totals.duration, 0.02);
	assert_near(contended(s, 0), alone + contended(parallel, 0), 0.02);
	assert_near(contended(s, 7), contended(parallel, 7), 0.02);
	free_setting(s);
	free_setting(parallel);
}

/* The phases of own_then_5 are apart: the same as if each had been a region. */
static void phases_stay_apart(void **state)
{
	struct setting *both = new_setting(), *own = new_setting(), *one = new_setting();

	(void)state;
	in_turn(both, 100, own_then_5);
	run(both);
	for (unsigned int piece = 0; piece < 50; piece++)
		for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
			add(own, cpu, cpu, PIECE);
			add(one, cpu, 5, PIECE);
		}
	run(own);
	run(one);
	/* one that is far takes more of its time in the second phase: its parts are not quite the phases */
	assert_near(both->totals.duration, own->totals.duration + one->totals.duration, 0.1);
	assert_true(both->totals.node[5].max > 0.9 * one->totals.node[5].max);
	assert_true(both->totals.node[0].max > 0.9 * own->totals.node[0].max);
	free_setting(both);
	free_setting(own);
	free_setting(one);
}

static void nothing_is_lost_of_many_windows(void **state)
{
	struct setting *s = new_setting();
	double sum[CPUS] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 5 * MAX_WINDOWS + 3; i++) {
		struct work *work = windows_next(&s->windows);

		work[i % CPUS].instructions += i;
		work[i % CPUS].misses[i % 7] += 10;
		work[i % CPUS].write_backs[i % 5] += 3;
		work[i % CPUS].l2_hits += 2;
		work[i % CPUS].l3_hits += 1;
		sum[i % CPUS] += i;
		assert_in_range(s->windows.used, 1, MAX_WINDOWS);
	}
	run(s);
	assert_int_equal(s->windows.merged, 8);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		double bytes = 0;

		assert_near(s->totals.cpu[cpu].instructions, sum[cpu], 1e-9);
		for (unsigned int node = 0; node < 8; node++)
			bytes += s->totals.node[node].bytes;
		assert_near(bytes, (5. * MAX_WINDOWS + 3) * 13 * LINE_BYTES * 6, 1e-9);
	}
	free_setting(s);
}

static void nothing_is_no_epoch(void **state)
{
	struct setting *s = new_setting();

	(void)state;
	run(s);
	windows_next(&s->windows);
	run(s);
	assert_int_equal(s->totals.epochs, 0);
	windows_next(&s->windows)[2].instructions = 1000;
	run(s);
	assert_int_equal(s->totals.epochs, 1);
	assert_near(s->totals.duration, 1000, 1e-9);
	free_setting(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_s_order_does_not_matter),
		cmocka_unit_test(a_master_works_alone),
		cmocka_unit_test(phases_stay_apart),
		cmocka_unit_test(nothing_is_lost_of_many_windows),
		cmocka_unit_test(nothing_is_no_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
