/* SPDX-License-Identifier: GPL-2.0-only */
/* What metrics of every domain of the host ask of Xen: bounded, in turn, and nothing twice. */
#include "daemon/tell.h"
#include "periods.h"

/* Without a file nobody asks. */
static void without_metrics_nothing_is_asked(void **unused)
{
	(void)unused;
	begin_with_metrics(2, 5);
	*d.config.metrics = '\0';
	periods(3);
	assert_int_equal(fake.call[CALL_MEMORY].calls + fake.call[CALL_DOMAINS].calls, 0);
	end_with_metrics();
}

/* Of 500, none watched: three domctls each for a file, and others are served meanwhile. */
static void hundreds_are_bounded(void **unused)
{
	unsigned int i, p;

	(void)unused;
	begin_with_metrics(8, 500);
	d.config.metrics_ms = 5000;
	for (i = 1; i <= 500; i++)
		fake_guest(i)->switches.carrefour = false;
	fake.call[CALL_POLICY_GET].us = fake.call[CALL_STATS].us = fake.call[CALL_MEMORY].us = 1000;
	fake.domctls = 0;
	for (p = 0; p < 120; p++)
		periods(1);
	/* Each look makes the time pass. */
	assert_in_range(fake.call[CALL_DOMAINS].calls, 20, 40);
	assert_int_equal(fake.call[CALL_MEMORY].calls, fake.call[CALL_DOMAINS].calls * 500);
	assert_int_equal(fake.domctls, fake.call[CALL_DOMAINS].calls * 3 * 500);
	assert_in_range(longest, 20 * MS, 100 * MS);
	end_with_metrics();
}

/* What was asked of one that is watched in this period is not asked again for its metrics. */
static void what_is_known_is_not_asked_twice(void **unused)
{
	(void)unused;
	begin_with_metrics(2, 10);
	fake_guest(10)->switches.carrefour = false;
	periods(20);
	fake.call[CALL_POLICY_GET].calls = fake.call[CALL_STATS].calls = fake.call[CALL_MEMORY].calls = 0;
	periods(20);
	assert_int_equal(fake.call[CALL_POLICY_GET].calls, 20 * 10);
	assert_int_equal(fake.call[CALL_STATS].calls, 20 * 10);
	assert_int_equal(fake.call[CALL_MEMORY].calls, 20 * 10);
	assert_true(has(FILE_NAME, "_policy_info{" UUID("1")));
	assert_true(has(FILE_NAME, "_policy_info{uuid=\"00000000-0000-0000-0000-00000000000a"));
	end_with_metrics();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_metrics_nothing_is_asked),
		cmocka_unit_test(hundreds_are_bounded),
		cmocka_unit_test(what_is_known_is_not_asked_twice),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("census", tests, NULL, NULL);
}
