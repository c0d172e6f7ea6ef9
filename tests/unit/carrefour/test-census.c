/* SPDX-License-Identifier: GPL-2.0-only */
/* What metrics of every domain of the host ask of Xen: bounded, in turn, and nothing twice. */
#include <string.h>

#include "daemon/tell.h"
#include "periods.h"

static unsigned int counting, others;

static void count_in_turn(enum fake_call call, unsigned int id)
{
	if (call == CALL_COUNT && id != counting) {
		others += counting && fake_guest(counting)->steps > 1 && d.census.gfn;
		counting = id;
	}
}

/* Of hundreds of steps each: one after the other, none twice in a minute, and not all of a period. */
static void counting_is_bounded(void **unused)
{
	uint64_t longest_of = 0;
	unsigned int i, p;

	(void)unused;
	begin_with_metrics(2, 9);
	counting = others = 0;
	fake.between = count_in_turn;
	fake.call[CALL_COUNT].us = 4000;
	for (i = 1; i <= 9; i++) {
		fake_guest(i)->switches.carrefour = false;
		fake_guest(i)->steps = 200;
		fake_guest(i)->bytes[0] = 200 << 20;
	}
	for (p = 0; p < 160; p++) {
		uint64_t before = fake.now;

		periods(1);
		if (fake.now - before - 1000 * MS > longest_of)
			longest_of = fake.now - before - 1000 * MS;
		/* Half of a count is none. */
		if (p == 3)
			assert_false(has(FILE_NAME, "_memory_bytes{" UUID("1")));
		if (p == 12)
			assert_true(has(FILE_NAME, "_memory_bytes{" UUID("1") ",domain=\"vm1\",node=\"0\"} 209715200\n") &&
				    !has(FILE_NAME, "_memory_bytes{" UUID("5")));
	}
	/* 100 ms, and a step that began within them; in between, others were served. */
	assert_in_range(longest_of, 90 * MS, 105 * MS);
	assert_in_range(longest, 1, 60 * MS);
	assert_int_equal(others, 0);
	/* Nine that take 8 s each: more than a minute, and all have their turn. */
	for (i = 1; i <= 9; i++)
		assert_in_range(fake_guest(i)->counted, 2, 3);
	end_with_metrics();

	/* What is quick is not asked for more often. */
	begin_with_metrics(2, 5);
	fake.between = NULL;
	fake.call[CALL_COUNT].us = 1000;
	periods(121);
	for (i = 1; i <= 5; i++)
		assert_in_range(fake_guest(i)->counted, 2, 3);
	assert_true(fake.call[CALL_COUNT].calls <= 15);
	end_with_metrics();

	/* Without a file nobody asks. */
	begin_with_metrics(2, 5);
	*d.config.metrics = '\0';
	periods(3);
	assert_int_equal(fake.call[CALL_COUNT].calls + fake.call[CALL_DOMAINS].calls, 0);
	end_with_metrics();
}

/* Of 500, none watched: two domctls each for a file, and those that count for a tenth of a period. */
static void hundreds_are_bounded(void **unused)
{
	unsigned int i, p, before, most = 0, all;
	uint64_t slowest = 0;

	(void)unused;
	begin_with_metrics(8, 500);
	d.config.metrics_ms = 5000;
	for (i = 1; i <= 500; i++) {
		fake_guest(i)->switches.carrefour = false;
		fake_guest(i)->steps = 10;
	}
	fake.call[CALL_POLICY_GET].us = fake.call[CALL_STATS].us = 20;
	fake.call[CALL_COUNT].us = 2000;
	fake.domctls = 0;
	for (p = 0; p < 120; p++) {
		uint64_t begun = fake.now;

		before = fake.domctls;
		periods(1);
		if (fake.domctls - before > most)
			most = fake.domctls - before;
		if (fake.now - begun > slowest)
			slowest = fake.now - begun;
	}
	all = fake.domctls;
	assert_int_equal(fake.call[CALL_POLICY_GET].calls + fake.call[CALL_STATS].calls, 24 * 2 * 500);
	/* 100 ms of 2 ms each, and the one that goes on. */
	assert_int_equal(fake.call[CALL_COUNT].calls, all - 24 * 1000);
	assert_in_range(most, 1040, 1051);
	assert_true(slowest <= (1000 + 20 + 102) * MS && longest <= 100 * MS);
	/* All have their turn, each some periods after the one before. */
	for (i = 1; i <= 500; i++)
		assert_in_range(fake_guest(i)->counted, 1, 2);
	end_with_metrics();
}

/* What was asked of one that is watched in this period is not asked again for its metrics. */
static void what_is_known_is_not_asked_twice(void **unused)
{
	(void)unused;
	begin_with_metrics(2, 10);
	fake_guest(10)->switches.carrefour = false;
	periods(20);
	fake.call[CALL_POLICY_GET].calls = fake.call[CALL_STATS].calls = 0;
	periods(20);
	assert_int_equal(fake.call[CALL_POLICY_GET].calls, 20 * 10);
	assert_int_equal(fake.call[CALL_STATS].calls, 20 * 10);
	assert_true(has(FILE_NAME, "_policy_info{" UUID("1")));
	assert_true(has(FILE_NAME, "_policy_info{uuid=\"00000000-0000-0000-0000-00000000000a"));
	end_with_metrics();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counting_is_bounded),
		cmocka_unit_test(hundreds_are_bounded),
		cmocka_unit_test(what_is_known_is_not_asked_twice),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("census", tests, NULL, NULL);
}
