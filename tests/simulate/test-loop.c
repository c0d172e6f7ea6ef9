/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that are small enough to compute by hand, and what must hold of any. A random test prints its seed for SEED=. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chance.h"
#include "loop.h"

static struct scenario scenario;
static struct loop loop;

static void read_text(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	char error[512];

	if (!scenario_read(&scenario, file, "scenario", error, sizeof(error)))
		fail_msg("%s", error);
	fclose(file);
}

static void begin(const char *text)
{
	read_text(text);
	assert_true(loop_begin(&loop, &scenario));
}

static void seconds(unsigned int n)
{
	while (n--)
		assert_true(loop_second(&loop));
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
		fail_msg("%.9g should be %.9g, within %g", value, wanted, tolerance);
}

#define TWO "nodes 2\nthreads 2\ninstructions 200\n"
#define TWO_PAGES TWO "policy first-touch\narea a 1 blocks own\n"

static double pace_of_two_pages(const char *text)
{
	double work;

	read_text(text);
	scenario.memory.area[0].pages = 2;
	assert_true(loop_begin(&loop, &scenario));
	seconds(1);
	work = loop.now.work;
	loop_end(&loop);
	return work;
}

/* A page and a thread on each of two nodes; nobody else uses a controller or a link, so nobody waits for it. */
static void two_pages_by_hand(void **unused)
{
	(void)unused;
	/* A miss takes 200 instructions and 156 cycles; of 2.2e9 a second, in millions. */
	assert_near(pace_of_two_pages(TWO_PAGES "use 0 a 1 own 1\n"), 2200 / 356., 1e-6);
	/* One link further: 276. */
	assert_near(pace_of_two_pages(TWO_PAGES "use 0 a 1 own+1 1\n"), 2200 / 476., 1e-6);
	/*
	 * Two misses at a time: half of 156 cycles for each, and half of what one waits for the other. That one uses a tenth of the
	 * controller, 64 bytes in 600 cycles of 13/6 GiB/s, and the queue is 346 cycles or so for each 0.1 / 0.9 of use.
	 */
	assert_in_range(1e3 * pace_of_two_pages(TWO_PAGES "overlap 2\nuse 0 a 1 own 1\n"), 1e3 * 2200 / 302, 1e3 * 2200 / 295);
	/* One makes all accesses, half of them far: each page has half. */
	assert_near(pace_of_two_pages(TWO_PAGES "use 0 a 1 1 1\n"), 2200 / (200 + 2 * (276 + 156) / 2.), 1e-6);
}

static void figures_of_two_pages(void **unused)
{
	(void)unused;
	begin(TWO_PAGES "use 0 a 1 own 1\n");
	seconds(1);
	assert_near(loop.now.local, 1, 1e-9);
	assert_near(loop.now.imbalance + 1, 1, 1e-9);
	loop_end(&loop);
	begin(TWO_PAGES "use 0 a 1 all 1\n");
	seconds(1);
	assert_near(loop.now.local, 0.5, 1e-9);
	loop_end(&loop);
	begin(TWO "policy first-touch\narea a 1 blocks 0\nuse 0 a 1 own 1\n");
	seconds(1);
	assert_near(loop.now.local, 0.5, 1e-9);
	/* All on one of two: a standard deviation of 1/2, and a mean of 1/2. */
	assert_near(loop.now.imbalance, 1, 1e-9);
	loop_end(&loop);
}

/* So many instructions that hardly anybody waits; node 3 is two links from node 0. One in eight has all misses, eight each. */
static void amd48_is_the_papers(void **unused)
{
	static const struct {
		unsigned int by, cycles;
	} distance[] = { { 0, 156 }, { 1, 276 }, { 2, 276 }, { 3, 383 } };
	char text[256];
	unsigned int i;

	(void)unused;
	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "instructions 100000\npolicy first-touch\narea a 64 blocks 0\nuse 0 a 1 %u 1\n",
			 distance[i].by);
		begin(text);
		seconds(1);
		assert_near(loop.now.work, 2200. / (100000 + 8 * distance[i].cycles), 1e-3);
		loop_end(&loop);
	}
}

#define EIGHT "nodes 8\nthreads 48\ninstructions 200\ncarrefour on\npolicy first-touch\narea a 64 blocks own\n"

static void what_is_local_stays(void **unused)
{
	(void)unused;
	begin(EIGHT "use 0 a 1 own 1\n");
	seconds(60);
	assert_int_equal(loop.totals.moves, 0);
	assert_near(loop.now.local, 1, 1e-9);
	assert_true(loop.totals.samples > 100000);
	loop_end(&loop);
}

/* Each thread uses what another one, on the next node, has touched. */
static void what_is_remote_comes_home(void **unused)
{
	double before;

	(void)unused;
	begin(EIGHT "use 0 a 1 own+6 1\n");
	seconds(1);
	before = loop.now.work;
	assert_near(loop.now.local + 1, 1, 0.1);
	seconds(119);
	assert_true(loop.now.local > 0.97);
	/* 200 and 156 cycles, and some queues, instead of one or two links: at least (200 + 276) / (200 + 156 + 40). */
	assert_true(loop.now.work > 1.2 * before);
	/* Each of the 16384 pages once, and none twice to speak of. */
	assert_in_range(loop.totals.moves, 15000, 17000);
	assert_in_range(loop.totals.back, 0, 20);
	loop_end(&loop);
}

/* A master's pages that all use are spread: none is anybody's. */
static void what_all_use_is_spread(void **unused)
{
	(void)unused;
	begin("nodes 8\nthreads 48\ninstructions 50\ncarrefour on\npolicy first-touch\narea a 64 blocks 0\nuse 0 a 1 all 1\n");
	seconds(1);
	assert_near(loop.now.imbalance, sqrt(7), 0.05);
	seconds(119);
	assert_true(loop.now.imbalance < 0.3);
	assert_near(loop.now.local, 0.125, 0.1);
	loop_end(&loop);
}

/* Whose pages are whose changes all the time. */
static void no_storm_where_it_alternates(void **unused)
{
	static const unsigned int every[] = { 1, 5, 20 };
	char text[8192];
	unsigned int i, at;
	int n;

	(void)unused;
	for (i = 0; i < 3; i++) {
		n = sprintf(text, EIGHT);
		for (at = 0; at < 200; at += every[i])
			n += sprintf(text + n, "use %u a 1 %s 1\n", at, at / every[i] % 2 ? "own+6" : "own");
		begin(text);
		seconds(200);
		/* Of 16384 pages, moved twice before they are frozen; they would be 16384 times 200 otherwise. */
		assert_in_range(loop.totals.moves, 0, 3 * 16384);
		assert_true(loop.totals.lost_moving / 200 < 0.02);
		loop_end(&loop);
	}
}

/* A page has one mark, so fewer than 64 pages bring fewer samples than that each 100 ms. */
static void a_page_is_sampled_once_a_period(void **unused)
{
	(void)unused;
	read_text("carrefour on\narea a 1 blocks own\nuse 0 a 1 own 1\n");
	scenario.memory.area[0].pages = 50;
	assert_true(loop_begin(&loop, &scenario));
	seconds(3);
	assert_in_range(loop.sampler.nr, 1, 10 * 50);
	assert_int_equal(loop.sampler.nr, loop.sampler.faults);
	assert_in_range(loop.sampler.faults, 1, loop.sampler.all_marked);
	loop_end(&loop);
}

static double work_after(const char *more, double *lost)
{
	char text[512];
	double work;

	snprintf(text, sizeof(text), "%suse 0 a 1 own+6 1\n%s", EIGHT, more);
	begin(text);
	seconds(30);
	*lost = loop.totals.lost_moving;
	work = loop.now.work / (1 - loop.now.lost);
	loop_end(&loop);
	return work;
}

/* As many as there may be cost some, and not much; without moves nothing. */
static void moves_cost_time(void **unused)
{
	double lost;

	(void)unused;
	work_after("set vm_moves 1\nset vm_mb_per_s 2\n", &lost);
	assert_in_range(1e9 * lost, 0, 1e9 * 30 * 1e-4);
	work_after("", &lost);
	assert_in_range(1e9 * lost, 1e9 * 10 * 1e-4, 1e9 * 10 * 0.01);
}

/* With all that is copied on its way, the guest has less of links and controllers. */
static void copies_take_bandwidth(void **unused)
{
	double with, without;

	(void)unused;
	begin("instructions 0\npolicy round-4k\narea a 64 blocks own\nuse 0 a 1 all 1\n");
	seconds(1);
	without = loop.now.work;
	loop.copied[1] = 2e9;
	seconds(1);
	with = loop.now.work;
	assert_true(with < 0.99 * without && with > 0.3 * without);
	seconds(1);
	assert_near(loop.now.work, without, 1e-9);
	loop_end(&loop);
}

static void count_by_page(struct memory *m)
{
	uint64_t used[NODES] = { 0 };
	unsigned int n, t, h;

	for (n = 0; n < m->nr; n++) {
		struct area *a = &m->area[n];
		uint32_t *count = calloc(m->threads * m->nodes, sizeof(*count));
		uint64_t gfn;

		for (gfn = a->first; gfn < a->first + a->pages; gfn++) {
			count[memory_thread(m, a, gfn) * m->nodes + memory_node(m, gfn)]++;
			used[memory_node(m, gfn)]++;
		}
		for (t = 0; t < m->threads; t++)
			for (h = 0; h < m->nodes; h++)
				assert_int_equal(count[t * m->nodes + h], a->count[t * m->nodes + h]);
		free(count);
	}
	for (h = 0; h < m->nodes; h++)
		assert_int_equal(used[h] + m->free[h], 8192);
}

static void place(struct memory *m, enum placement placement, bool large, uint64_t seed)
{
	unsigned int i;

	*m = (struct memory){ .nodes = 4, .threads = 16, .large = large, .seed = seed };
	for (i = 0; i < 4; i++)
		m->free[i] = 8192;
	for (i = 0; i < 16; i++)
		m->node_of[i] = i / 4;
	memory_add(m, "a", 3000, LAYOUT_BLOCKS, TOUCH_OWN);
	memory_add(m, "b", 700, LAYOUT_SCATTERED, TOUCH_OWN);
	memory_add(m, "c", 7, LAYOUT_MIXED, 2);
	memory_add(m, "d", 2048, LAYOUT_MIXED, TOUCH_ALL);
	assert_true(memory_place(m, placement));
}

/* What is counted is what counting all pages says, wherever they were placed and moved. */
static void counts_are_those_of_pages(void **unused)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL), chance = seed;
	unsigned int i, j;

	(void)unused;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (i = 0; i < 8; i++) {
		struct memory m;

		place(&m, i % 4, i / 4, seed);
		count_by_page(&m);
		for (j = 0; j < 2000; j++) {
			unsigned int order = chance_below(&chance, 20) ? 0 : 9;
			uint64_t gfn = chance_below(&chance, m.pages + 100) >> order << order, to = chance_below(&chance, 5);
			bool there = memory_area(&m, gfn), done = j % 7 ? memory_move(&m, gfn, order, to) : memory_interleave(&m, gfn);

			assert_true(there || !done);
			if (done && j % 7) {
				assert_int_equal(memory_node(&m, gfn), to);
				assert_int_equal(memory_order(&m, gfn), order);
			}
		}
		count_by_page(&m);
		memory_free(&m);
	}
}

static void places_are_those_of_policies(void **unused)
{
	struct memory m;
	uint64_t gfn;

	(void)unused;
	place(&m, PLACE_4K, true, 1);
	for (gfn = 0; gfn < 3000; gfn++)
		assert_int_equal(memory_node(&m, gfn), gfn % 4);
	assert_int_equal(memory_order(&m, 0), 0);
	memory_free(&m);
	place(&m, PLACE_2M, true, 1);
	for (gfn = 0; gfn < 3000; gfn++)
		assert_int_equal(memory_node(&m, gfn), gfn / 512 % 4);
	assert_int_equal(memory_order(&m, 0), 9);
	memory_free(&m);
	place(&m, PLACE_1G, true, 1);
	for (gfn = 0; gfn < 3000; gfn++)
		assert_int_equal(memory_node(&m, gfn), 0);
	memory_free(&m);
	place(&m, PLACE_FIRST_TOUCH, false, 1);
	for (gfn = 0; gfn < 3000; gfn++)
		assert_int_equal(memory_node(&m, gfn), gfn * 16 / 3000 / 4);
	/* "c", behind the 2 MiB of a and b: a master's. */
	assert_int_equal(memory_node(&m, 8 * 512 + 5), 2);
	memory_free(&m);
}

/* Who accesses is sampled as often as it does: 3 of 4 accesses are of all, 1 of the owner's. */
static void samples_are_of_who_accesses(void **unused)
{
	uint64_t own = 0, all = 0, i, local = 0;
	char text[512];

	(void)unused;
	snprintf(text, sizeof(text), "%s", "nodes 8\nthreads 48\ncarrefour on\npolicy first-touch\narea a 64 blocks own\n"
		 "area b 192 blocks own\nuse 0 a 1 own 1\nuse 0 b 3 all 1\nset vm_moves 1\n");
	begin(text);
	seconds(40);
	for (i = 0; i < loop.sampler.nr; i++) {
		const struct sample *s = &loop.sampler.sample[i];
		const struct area *a = memory_area(&loop.memory, s->gfn);

		if (a == loop.memory.area) {
			own++;
			assert_int_equal(s->vcpu, memory_thread(&loop.memory, a, s->gfn));
		} else {
			all++;
			local += s->node == s->home;
		}
	}
	/* Some 10240 samples: 7680, within 8 sigma of 44; of these an eighth is local, within 8 sigma of 29. */
	assert_in_range(own + all, 10000, 10240);
	assert_in_range(all, 7680 - 600, 7680 + 352);
	assert_in_range(local, all / 8 - 232, all / 8 + 232);
	loop_end(&loop);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_pages_by_hand),
		cmocka_unit_test(figures_of_two_pages),
		cmocka_unit_test(amd48_is_the_papers),
		cmocka_unit_test(what_is_local_stays),
		cmocka_unit_test(what_is_remote_comes_home),
		cmocka_unit_test(what_all_use_is_spread),
		cmocka_unit_test(no_storm_where_it_alternates),
		cmocka_unit_test(a_page_is_sampled_once_a_period),
		cmocka_unit_test(moves_cost_time),
		cmocka_unit_test(copies_take_bandwidth),
		cmocka_unit_test(counts_are_those_of_pages),
		cmocka_unit_test(places_are_those_of_policies),
		cmocka_unit_test(samples_are_of_who_accesses),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
