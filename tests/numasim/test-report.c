/* SPDX-License-Identifier: GPL-2.0-only */
/* From counters over epochs to the line of JSON. */
#include "test.h"

#include <math.h>

#include "region.h"
#include "report.h"

static uint64_t instructions_of[8];

static uint64_t instructions(unsigned int cpu, enum mode mode)
{
	return mode == USER ? instructions_of[cpu] : mode == XEN ? 1000000 : 0;
}

struct setting {
	struct machine machine;
	struct model model;
	struct region region;
};

static void start(struct setting *s)
{
	memset(s, 0, sizeof(*s));
	memset(instructions_of, 0, sizeof(instructions_of));
	s->machine = test_machine("watch=0+3", "latency=100:200:300", "loaded=1000:1100:1200", NULL);
	assert_null(model_init(&s->model, &s->machine));
	region_init(&s->region, sim_new(&s->machine), &s->model, instructions);
	region_begin(&s->region);
}

static void stop(struct setting *s)
{
	region_free(&s->region);
	sim_free(s->region.sim);
	machine_free(&s->machine);
}

static char *line(struct setting *s, unsigned int id)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	region_end(&s->region, id, to);
	fclose(to);
	return text;
}

static void miss(struct setting *s, unsigned int cpu, enum mode mode, unsigned int node, unsigned int n)
{
	static uint64_t next;

	/* lines that never come twice */
	for (; n; n--)
		sim_beyond_l1(s->region.sim, s->region.sim->cpu[cpu], MISS, mode, (uint64_t)node * GIB + next++ * LINE_BYTES, false);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static void deviation_is_of_the_population(void **state)
{
	static const double even[] = { 5, 5, 5, 5 }, one[] = { 0, 8, 0, 0, 0, 0, 0, 0 }, none[] = { 0, 0 };
	static const double known[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	(void)state;
	assert_true(relative_deviation(even, 4) == 0);
	assert_true(fabs(relative_deviation(one, 8) - sqrt(7)) < 1e-9);
	assert_true(relative_deviation(none, 2) == 0);
	assert_true(fabs(relative_deviation(known, 8) - 0.4) < 1e-9);
}

static void a_region_by_hand(void **state)
{
	struct setting s;
	char *text;

	(void)state;
	start(&s);
	/* CPU 0: 300 local and 100 of node 1, one hop; CPU 3: 100 of node 0, two hops, mode after mode; at a pace without queues */
	instructions_of[0] = 10000000000;
	instructions_of[3] = 7;
	miss(&s, 0, USER, 0, 300);
	miss(&s, 0, KERNEL, 1, 100);
	miss(&s, 3, XEN, 0, 100);
	text = line(&s, 77);
	assert_has(text, "{\"region\": 77, \"machine\": {\"name\": \"amd48\", ");
	assert_has(text, "\"epochs\": 1, \"seconds_modelled\": 4.54547727, ");
	assert_has(text, "{\"cpu\": 0, \"node\": 0, \"instructions\": {\"user\": 10000000000, \"kernel\": 0, \"xen\": 1000000}");
	assert_has(text, "\"misses\": {\"user\": [300, 0, 0, 0, 0, 0, 0, 0], \"kernel\": [0, 100, 0, 0, 0, 0, 0, 0], \"xen\": [0, 0, ");
	assert_has(text, "\"memory_cycles\": {\"uncontended\": 50000, \"contended\": 50000}, \"cycles\": 10000050000}, {\"cpu\": 3, ");
	assert_has(text, "\"memory_cycles\": {\"uncontended\": 30000, \"contended\": 30000}, \"cycles\": 30007}], ");
	assert_has(text, "{\"node\": 0, \"accesses\": 400, ");
	assert_has(text, "{\"node\": 1, \"accesses\": 100, ");
	/* data of node 0 goes to 3 by 2; nothing goes from 0 to 1 */
	assert_has(text, "{\"from\": 0, \"to\": 2, \"bytes\": 6400, ");
	assert_has(text, "{\"from\": 2, \"to\": 3, \"bytes\": 6400, ");
	assert_has(text, "{\"from\": 0, \"to\": 1, \"bytes\": 0, ");
	assert_has(text, "{\"from\": 1, \"to\": 0, \"bytes\": 6400, ");
	assert_has(text, "\"local_ratio\": 0.6, ");
	assert_has(text, "\"imbalance\": 2.10713, ");	/* of 400, 100 and six zeros: sqrt(17343.75) / 62.5 */
	assert_has(text, "\"busiest_cpu\": 0, \"memory_cycles\": 50000, \"cycles\": 10000050000}\n");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	stop(&s);
}

static void looks_are_differences(void **state)
{
	struct setting s;
	char *text;

	(void)state;
	start(&s);
	for (unsigned int look = 1; look <= 3; look++) {
		instructions_of[0] = look * 1000;
		miss(&s, 0, USER, 0, 10);
		if (look < 3)
			region_look(&s.region);
	}
	text = line(&s, 1);
	assert_int_equal(s.region.windows.used, 3);
	assert_has(text, "\"epochs\": 1, ");
	assert_has(text, "\"memory_cycles\": {\"uncontended\": 3000, ");
	assert_has(text, "\"instructions\": {\"user\": 3000, ");
	assert_true(fabs(s.region.totals.cpu[0].instructions - 3000) < 1e-6);
	free(text);

	/* a new region has forgotten everything */
	memset(instructions_of, 0, sizeof(instructions_of));
	region_begin(&s.region);
	text = line(&s, 2);
	assert_has(text, "\"epochs\": 0, \"seconds_modelled\": 0, ");
	assert_has(text, "\"local_ratio\": null, \"imbalance\": 0, \"interconnect_load\": 0, ");
	free(text);
	stop(&s);
}

static void what_is_not_counted_is_told(void **state)
{
	struct setting s;
	char *text;

	(void)state;
	start(&s);
	miss(&s, 3, USER, 8, 5);
	s.region.sim->cpu[0]->counts.unresolved = 2;
	text = line(&s, 9);
	assert_has(text, "\n{\"error\": \"region 9: CPU 0: 2 accesses without a machine address\"}\n");
	assert_has(text, "\n{\"error\": \"region 9: CPU 3: 5 accesses to memory of no node, the last at 0x2000");
	free(text);
	stop(&s);
}

/* Hits in the TLB, and what walks hit and miss, are time as all else is; misses of Xen's walks, too, but not its hits. */
static void walks_are_memory_cycles(void **state)
{
	static const struct translation tlb = {
		.name = "by hand", .l1 = { { { 1, 1 } }, { 0, 0, 0 } }, .l2 = { { { 1, 1 } }, { 0, 0, 0 } }, .l2_hit = 5, .walk_cache = 1,
	};
	struct setting s;
	struct counts *c;
	char *text;

	(void)state;
	start(&s);
	s.machine.translation = &tlb;
	c = &s.region.sim->cpu[0]->counts;
	instructions_of[0] = 10000000000;
	miss(&s, 0, USER, 0, 10);
	c->tlb_hits[USER] = 1000;
	c->tlb_hits[XEN] = 1000000;
	c->walks[USER] = 900;
	c->walks_lost = 1;
	c->walk_l2_hits[KERNEL] = 100;
	c->walk_l2_hits[XEN] = 100000;
	c->walk_l3_hits[USER] = 10;
	c->walk_misses[USER][1] = 3;
	c->walk_misses[XEN][0] = 7;
	text = line(&s, 5);
	/* 5 x 1000 + 16 x 100 + 48 x 10 + 200 x 3 + 100 x 7; and 10 misses of 100 */
	assert_has(text, "\"memory_cycles\": {\"uncontended\": 9380, \"contended\": 9380, \"walks\": 8380}, ");
	assert_has(text, "\"walk_misses\": {\"user\": [0, 3, 0, ");
	assert_has(text, "\"walks_lost\": 1, ");
	/* where the data is, the tables do not count */
	assert_has(text, "{\"node\": 1, \"accesses\": 0, ");
	assert_has(text, "\n{\"error\": \"region 5: CPU 0: 1 walks of page tables that lead nowhere\"}\n");
	free(text);

	/* one of a thousand may be lost */
	region_begin(&s.region);
	c->walks[USER] = 1000;
	c->walks_lost = 1;
	text = line(&s, 6);
	assert_null(strstr(text, "error"));
	free(text);
	s.machine.translation = NULL;
	stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deviation_is_of_the_population),
		cmocka_unit_test(a_region_by_hand),
		cmocka_unit_test(looks_are_differences),
		cmocka_unit_test(what_is_not_counted_is_told),
		cmocka_unit_test(walks_are_memory_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
