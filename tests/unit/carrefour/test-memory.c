/* SPDX-License-Identifier: GPL-2.0-only */
/* Any allocation may fail: the daemon goes on, says so, and does later what it could not do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/record.h"
#include "daemon/tell.h"
#include "fake-memory.h"
#include "periods.h"

/* After the copy of what xenstore says. */
static void keep_failing(enum fake_call call, unsigned int id)
{
	(void)id;
	if (call == CALL_STORE)
		memory_fails(1, 1);
}

/* What is switched on while there is no memory is watched when there is, though nothing has changed since. */
static void what_found_no_memory_comes_later(void **unused)
{
	unsigned int i, at, failed;

	(void)unused;
	for (at = 0, failed = 1; failed; at++) {
		begin(2, 3);
		fake_guest(3)->switches.carrefour = false;
		periods(2);
		fake_guest(1)->switches.mode = AUTO_ADVISE;
		fake_guest(2)->switches.carrefour = false;
		fake_guest(3)->switches.carrefour = true;
		fake.changed = true;
		memory_fails(at, 1);
		periods(1);
		failed = memory_failed();
		memory_fails(0, 0);
		/* What was refused is tried again after half a minute. */
		periods(33);
		assert_true(d.nr == 2 && d.guest[0]->switches.mode == AUTO_ADVISE && d.guest[1]->switches.id == 3);
		for (i = 0; i < d.nr; i++)
			assert_true(d.guest[i]->looked && d.guest[i]->domain);
		end();
	}
	assert_true(at > 5);
	/* For as long as it lasts, it is said once. */
	begin(2, 3);
	fake.between = keep_failing;
	periods(10);
	memory_fails(0, 0);
	assert_int_equal(lines("out of memory; some domains are left out"), 1);
	fake.between = NULL;
	periods(2);
	assert_int_equal(d.nr, 3);
	end();
}

/* Of all that a period does, each allocation in turn: samples, tables, decisions, metrics, a recording, memory that follows. */
static void each_allocation_may_fail(void **unused)
{
	unsigned int i, at, failed;
	struct recording *r;
	const char *why;
	FILE *f;

	(void)unused;
	for (at = 0, failed = 1; failed; at++) {
		begin(6, 4);
		strcpy(d.config.metrics, "m.prom");
		d.config.metrics_ms = 1000;
		d.config.period_ms = 10000;
		d.config.pages = 2048;
		d.config.auto_dwell_ms = 30000;
		fake_guest(1)->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .class = CLASS_LOW };
		fake_guest(1)->gfns = 1 << 20;
		fake_guest(4)->switches.carrefour = false;
		for (i = 1; i <= 4; i++)
			fake_guest(i)->samples = 200;
		f = fopen("trace", "w");
		r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 6 }, &why);
		assert_non_null(r);
		fclose(f);
		/* In the first half it begins, in the second one auto sets a policy, and a guest wants more room. */
		memory_fails(at / 2, at % 2 ? 1 : 3);
		periods(4);
		fake_guest(2)->samples = 1500;
		fake_guest(4)->switches.carrefour = true;
		fake.changed = true;
		periods(4);
		failed = memory_failed();
		memory_fails(0, 0);
		/* What was refused is tried again after half a minute. */
		periods(8);
		assert_int_equal(d.nr, 4);
		for (i = 0; i < d.nr; i++)
			assert_true(d.guest[i]->looked && (i == 0 || d.guest[i]->domain));
		assert_true(!strcmp(fake_guest(1)->policy.name, "round-4k") && fake_guest(1)->class == CLASS_HIGH);
		assert_true(has("m.prom", "domain=\"vm4\""));
		/* That memory_mb does not do is another matter. */
		assert_int_equal(lines("memory_mb is not enough"), 0);
		assert_int_equal(record_finish(r).error, 0);
		tell_no_metrics(&d);
		end();
	}
	assert_true(at > 100);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_found_no_memory_comes_later),
		cmocka_unit_test(each_allocation_may_fail),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
