/* SPDX-License-Identifier: GPL-2.0-only */
/* Latencies that come out of the model: the paper's Table 3, and systems small enough to compute by hand. */
#include "test.h"

#include <math.h>

#include "model.h"

#define CPUS 8

struct setting {
	struct machine machine;
	struct model model;
	struct work work[CPUS];
	struct totals totals;
};

static struct setting *new_setting(const char *word)
{
	struct setting *s = g_new0(struct setting, 1);
	char *wrong;

	s->machine = test_machine(word, NULL);
	wrong = model_init(&s->model, &s->machine);
	if (wrong)
		fail_msg("%s", wrong);
	return s;
}

static void free_setting(struct setting *s)
{
	machine_free(&s->machine);
	g_free(s);
}

static void run(struct setting *s)
{
	memset(&s->totals, 0, sizeof(s->totals));
	model_epoch(&s->model, s->work, &s->totals);
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance * wanted))
		fail_msg("%g should be %g", value, wanted);
}

static unsigned int hops(unsigned int cpu, unsigned int node)
{
	return cpu == node ? 0 : cpu % 2 == node % 2 || cpu / 2 == node / 2 ? 1 : 2;
}

/* Table 3, one thread: from any CPU to any node, at any pace. */
static void alone_it_is_the_latency_of_the_distance(void **state)
{
	static const double wanted[] = { 156, 276, 383 };

	(void)state;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		for (unsigned int node = 0; node < CPUS; node++) {
			struct setting *s = new_setting(NULL);

			s->work[cpu].misses[node] = 1e6;
			run(s);
			assert_near(s->totals.cpu[cpu].contended / 1e6, wanted[hops(cpu, node)], 1e-6);
			assert_near(s->totals.cpu[cpu].uncontended / 1e6, wanted[hops(cpu, node)], 1e-6);
			assert_near(s->totals.duration, 1e6 * wanted[hops(cpu, node)], 1e-6);
			free_setting(s);
		}
}

/*
 * Table 3, 48 threads on one node, a closed system: each thread goes on as fast as its latency lets it.  It starts from the
 * latencies alone, and finds the loaded ones by itself.
 */
static void crowded_it_is_the_latency_under_load(void **state)
{
	static const double wanted[] = { 697, 740, 863 };

	(void)state;
	for (unsigned int node = 0; node < CPUS; node++) {
		struct setting *s = new_setting("stands-for=6");
		double sum[3] = { 0 };
		unsigned int n[3] = { 0 };

		for (unsigned int cpu = 0; cpu < CPUS; cpu++)
			s->work[cpu].misses[node] = 1e6;
		for (unsigned int round = 0; round < 200; round++) {
			run(s);
			for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
				double latency = s->totals.cpu[cpu].contended / s->work[cpu].misses[node];

				s->work[cpu].misses[node] = 1e9 / latency;
			}
		}
		for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
			sum[hops(cpu, node)] += s->totals.cpu[cpu].contended / s->work[cpu].misses[node];
			n[hops(cpu, node)]++;
		}
		for (unsigned int h = 0; h < 3; h++)
			assert_near(sum[h] / n[h], wanted[h], 0.01);
		/* 6 threads at each latency, 64 bytes a miss: 8.1 of 13 GiB/s */
		assert_near(s->totals.node[node].max, 8.117 / 13, 0.01);
		free_setting(s);
	}
}

static void more_load_is_never_faster(void **state)
{
	double before = 0;

	(void)state;
	for (unsigned int crowd = 1; crowd <= CPUS; crowd++) {
		struct setting *s = new_setting("stands-for=6");

		for (unsigned int cpu = 0; cpu < crowd; cpu++)
			s->work[cpu].misses[0] = 1e6;
		run(s);
		assert_true(s->totals.cpu[0].contended > before);
		before = s->totals.cpu[0].contended;
		free_setting(s);
	}
}

/* Two CPUs, two nodes: everything can be computed on paper. */
static void use_by_hand(void **state)
{
	struct setting *s = new_setting(NULL);
	const struct link *link = s->machine.link;
	double instructions = 1e9;

	(void)state;
	s->work[0].instructions = instructions;
	s->work[0].misses[2] = 1e6;		/* 64 MB over 2 -> 0 */
	s->work[0].write_backs[3] = 5e5;	/* 32 MB over 0 -> 1 -> 3 or 0 -> 2 -> 3: to the neighbour of 3 */
	s->work[5].l2_hits = 1000;
	s->work[5].l3_hits = 100;
	run(s);
	assert_near(s->totals.cpu[5].contended, 1000 * 16 + 100 * 48, 1e-9);
	assert_near(s->totals.duration, instructions + 1e6 * 276, 1e-3);
	assert_near(s->totals.node[2].max, 64e6 / (13. * GIB) * 2.2e9 / s->totals.duration, 1e-9);
	assert_near(s->totals.node[3].max, 32e6 / (13. * GIB) * 2.2e9 / s->totals.duration, 1e-9);
	for (unsigned int i = 0; i < s->machine.links; i++) {
		double bytes = link[i].from == 2 && link[i].to == 0 ? 64e6 :
			(link[i].from == 0 && link[i].to == 2) || (link[i].from == 2 && link[i].to == 3) ? 32e6 : 0;

		assert_near(s->totals.link[i].bytes, bytes, 1e-9);
		assert_near(s->totals.link[i].max, bytes / (6. * GIB) * 2.2e9 / s->totals.duration, 1e-9);
	}
	assert_near(s->totals.busiest_link / s->totals.duration, 64e6 / (6. * GIB) * 2.2e9 / s->totals.duration, 1e-9);
	free_setting(s);
}

/* Of two CPUs that are equally far from a busy node, one is behind a link of a sixth of the bandwidth. */
static void a_narrow_link_makes_wait(void **state)
{
	struct setting *s = new_setting("link=4-6:1");
	double narrow, wide;

	(void)state;
	s->work[2].misses[6] = s->work[4].misses[6] = 1e6;
	s->work[0].instructions = 200e6;
	run(s);
	/* nobody else uses either link, and one's own accesses do not wait for each other */
	assert_near(s->totals.cpu[4].contended, s->totals.cpu[2].contended, 1e-9);
	free_setting(s);

	s = new_setting("link=4-6:1");
	s->work[2].misses[6] = s->work[4].misses[6] = 1e6;
	s->machine.stands_for = 2;
	s->work[0].instructions = 400e6;
	run(s);
	/* now another one of each does: 64 bytes x rho / (1 - rho) / bandwidth a miss, rho of half the traffic */
	narrow = 64e6 / s->totals.duration / (GIB / 2.2e9);
	wide = narrow / 6;
	assert_near(s->totals.cpu[4].contended - s->totals.cpu[2].contended,
		    1e6 * 64 / (GIB / 2.2e9) * (narrow / (1 - narrow) - wide / (1 - wide) / 6), 1e-3);
	free_setting(s);
}

static void stands_for_multiplies_traffic_not_time(void **state)
{
	struct setting *s = new_setting("stands-for=6");

	(void)state;
	s->work[0].instructions = 1e12;		/* so much that nothing waits */
	s->work[0].misses[2] = 1e6;
	run(s);
	assert_near(s->totals.cpu[0].contended, 276e6, 1e-3);
	assert_near(s->totals.node[2].bytes, 6 * 64e6, 1e-9);
	assert_near(s->totals.cpu[0].instructions, 1e12, 1e-9);
	free_setting(s);
}

/* More write-backs than a controller takes in the time: the epoch lasts until they are written. */
static void bandwidth_is_a_bound(void **state)
{
	struct setting *s = new_setting(NULL);

	(void)state;
	s->work[0].instructions = 1000;
	s->work[0].write_backs[0] = 1e6;
	run(s);
	assert_near(s->totals.duration, 64e6 / (13. * GIB) * 2.2e9, 1e-6);
	assert_near(s->totals.node[0].max, 1, 1e-6);
	free_setting(s);
}

static void epochs_add_up(void **state)
{
	struct setting *s = new_setting(NULL);

	(void)state;
	s->work[0].misses[0] = 1e6;
	run(s);
	memset(s->work, 0, sizeof(s->work));
	s->work[7].instructions = 44e6;
	model_epoch(&s->model, s->work, &s->totals);
	memset(s->work, 0, sizeof(s->work));
	model_epoch(&s->model, s->work, &s->totals);	/* nothing happened: no epoch */
	assert_int_equal(s->totals.epochs, 2);
	assert_near(s->totals.duration, 200e6, 1e-6);
	assert_near(s->totals.node[0].time / s->totals.duration, 0.78 * s->totals.node[0].max, 1e-6);
	assert_near(s->totals.cpu[0].contended, 156e6, 1e-6);
	assert_near(s->totals.cpu[7].instructions, 44e6, 1e-6);
	free_setting(s);
}

static void impossible_machines_are_refused(void **state)
{
	static const char *const words[] = {
		"controller=8",				/* 48 threads get 8.1 GiB/s, by Table 3 */
		"loaded=157:277:384",			/* no queue is that short */
		"loaded-threads=12",
	};

	(void)state;
	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++) {
		struct machine m = test_machine(words[i], NULL);
		struct model model;
		char *wrong = model_init(&model, &m);

		assert_non_null(wrong);
		g_free(wrong);
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone_it_is_the_latency_of_the_distance),
		cmocka_unit_test(crowded_it_is_the_latency_under_load),
		cmocka_unit_test(more_load_is_never_faster),
		cmocka_unit_test(use_by_hand),
		cmocka_unit_test(a_narrow_link_makes_wait),
		cmocka_unit_test(stands_for_multiplies_traffic_not_time),
		cmocka_unit_test(bandwidth_is_a_bound),
		cmocka_unit_test(epochs_add_up),
		cmocka_unit_test(impossible_machines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
