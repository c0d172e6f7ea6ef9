/* SPDX-License-Identifier: GPL-2.0-only */
/* Periods of the daemon: what it says, what others do meanwhile, and that anything may fail. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/record.h"
#include "control/view.h"
#include "daemon/tell.h"
#include "fake-memory.h"
#include "periods.h"

static void the_log_is_quiet(void **unused)
{
	(void)unused;
	begin(4, 20);
	periods(120);
	/* It begins, is active, comes to rest. */
	assert_true(lines("") < 20 * 120 / 10);
	end();

	begin(4, 20);
	fake.call[CALL_VCPUS].error = ENOMEM;
	periods(100);
	assert_int_equal(lines("policy and affinity: "), 20);
	fake.call[CALL_VCPUS].error = 0;
	fake.call[CALL_GET].error = EAGAIN;
	periods(100);
	assert_int_equal(lines("counters: "), 20);
	/* That it is over and comes again is no news within a minute. */
	fake.call[CALL_GET].error = 0;
	periods(1);
	fake.call[CALL_GET].error = EAGAIN;
	periods(1);
	assert_int_equal(lines("counters: "), 40);
	fake.call[CALL_GET].error = 0;
	periods(1);
	fake.call[CALL_GET].error = EAGAIN;
	periods(1);
	assert_int_equal(lines("counters: "), 40);
	end();
}

static void metrics_say_what_is_known(void **unused)
{
	(void)unused;
	begin(2, 1);
	strcpy(d.config.metrics, "m.prom");
	d.config.metrics_ms = 100;
	periods(4);
	assert_true(has("m.prom", "\ncarrefour_local_ratio{") && has("m.prom", "state=\"active\"} 1"));
	/* No samples: no share; it is still known what state that is. */
	fake_guest(1)->samples = 0;
	periods(3);
	assert_false(has("m.prom", "\ncarrefour_local_ratio{"));
	assert_true(has("m.prom", "state=\"few-samples\"} 1"));
	/* Nothing can be asked of it. */
	fake.call[CALL_POLICY_GET].error = EAGAIN;
	periods(1);
	assert_false(has("m.prom", "\ncarrefour_state{"));
	assert_true(has("m.prom", "\ncarrefour_guest_seconds_total{uuid=") && has("m.prom", ",domain=\"vm1\"} 3.000000000\n"));
	/* Nothing can be asked at all. */
	assert_int_equal(unlink("m.prom"), 0);
	fake.call[CALL_HOST].error = EAGAIN;
	periods(2);
	assert_false(is_there("m.prom"));
	assert_int_equal(lines("cannot ask Xen for its nodes"), 1);
	fake.call[CALL_HOST].error = fake.call[CALL_POLICY_GET].error = 0;
	periods(1);
	assert_true(is_there("m.prom"));
	/* Another file. */
	strcpy(d.config.metrics, "n.prom");
	periods(1);
	assert_true(is_there("n.prom") && !is_there("m.prom"));
	tell_no_metrics(&d);
	assert_false(is_there("n.prom"));
	end();
}

static bool show_has(const char *what)
{
	FILE *f = fopen("shown", "w");

	view_show(f, &d);
	fclose(f);
	return has("shown", what);
}

static bool explain_has(const char *what)
{
	FILE *f = fopen("shown", "w");

	view_explain(f, &d, d.guest[0]);
	fclose(f);
	return has("shown", what);
}

/* Nothing is known of the last period: what was so before it, is not told as if it were of it. */
static void answers_say_what_is_known(void **unused)
{
	(void)unused;
	begin(2, 1);
	periods(4);
	assert_true(show_has("\"state\": \"active\", \"samples\": 1000, ") && !explain_has("\"last_period\": null"));
	fake.call[CALL_POLICY_GET].error = EAGAIN;
	periods(1);
	assert_true(show_has("\"state\": null, \"samples\": 0, \"local_percent\": null, "));
	assert_true(show_has("\"totals\": {\"periods\": 3, ") && explain_has("\"last_period\": null"));
	fake.call[CALL_POLICY_GET].error = 0;
	periods(1);
	assert_false(show_has("\"samples\": 0, ") || explain_has("\"last_period\": null"));
	fake.call[CALL_HOST].error = EAGAIN;
	periods(1);
	assert_true(show_has("\"state\": null, \"samples\": 0, ") && explain_has("\"last_period\": null"));
	end();
}

static void come_or_go(struct fake_guest *g)
{
	g->gone = !g->gone;
	g->state = XEN_OFF;
}

static void vanish(enum fake_call call, unsigned int id)
{
	unsigned int i;

	(void)id;
	if (rnd(200) == 0)
		come_or_go(fake_guest(1 + rnd(fake.nr)));
	if (rnd(100) == 0)
		memory_fails(rnd(50), 1 + rnd(3));
	for (i = 0; i < NR_CALLS; i++)
		if (rnd(40) == 0)
			fake.call[i].error = rnd(3) ? 0 : rnd(2) ? ENOMEM : ESRCH;
	if (call == CALL_STORE) {
		fake.changed = true;
		for (i = 1; i <= fake.nr; i++)
			if (rnd(20) == 0) {
				fake_guest(i)->switches.carrefour ^= 1;
				fake_guest(i)->switches.mode = rnd(NR_AUTO_MODES);
			}
	}
}

/* Whatever fails, and whoever goes, between any two calls: it goes on, and when all is well again, all is looked at. */
static void anything_may_fail(void **unused)
{
	struct recording *r;
	const char *why;
	char text[65536 * 4];
	unsigned int i;
	FILE *f;

	(void)unused;
	test_seed();
	begin(3, 12);
	strcpy(d.config.metrics, "m.prom");
	d.config.memory_mb = 16;
	for (i = 0; i < NR_CALLS; i++)
		fake.call[i].us = 20000;
	f = fopen("trace", "w");
	r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 3 }, &why);
	assert_non_null(r);
	fclose(f);
	fake.between = vanish;
	for (i = 0; i < 150; i++) {
		/* So slow that rings are read, and others served, between any two steps. */
		fake.tick = rnd(2) ? 0 : rnd(600) * MS;
		periods(1);
		f = fmemopen(text, sizeof(text), "w");
		view_show(f, &d);
		if (d.nr)
			view_explain(f, &d, d.guest[rnd(d.nr)]);
		fclose(f);
	}
	fake.between = NULL;
	fake.tick = 0;
	memory_fails(0, 0);
	for (i = 0; i < NR_CALLS; i++)
		fake.call[i].error = 0;
	for (i = 1; i <= fake.nr; i++) {
		fake_guest(i)->gone = false;
		fake_guest(i)->switches.carrefour = true;
	}
	fake.changed = true;
	periods(40);
	assert_int_equal(d.nr, 12);
	for (i = 0; i < d.nr; i++)
		assert_true(d.guest[i]->looked);
	assert_int_equal(record_finish(r).error, 0);
	tell_no_metrics(&d);
	end();
}

/* Tables that change their size, in a trace from the first period on: carrefour-replay is to decide the same. */
static void record_tables(unsigned int pages)
{
	struct recording *r;
	const char *why;
	unsigned int i;
	FILE *f = fopen("recorded.trace", "w");

	begin(4, 30);
	d.config.memory_mb = 16;
	d.config.pages = pages;
	for (i = 1; i <= 30; i++) {
		fake_guest(i)->span = 1 << 14;
		fake_guest(i)->samples = i % 3 ? 800 : 5;
		fake_guest(i)->gone = i > 10;
	}
	r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 4 }, &why);
	fclose(f);
	for (i = 0; i < 70; i++) {
		if (i == 20 || i == 40) {
			unsigned int k;

			for (k = 11; k <= 30; k++)
				fake_guest(k)->gone = i == 40 && k > 12;
			fake.changed = true;
		}
		fake.tick = i % 7 ? 0 : 300 * MS;
		periods(1);
	}
	assert_int_equal(record_finish(r).error, 0);
	assert_true(has("recorded.trace", "\ntable 2048\n") || has("recorded.trace", "\ntable 4096\n"));
	end();
}

static void a_recording(void **unused)
{
	(void)unused;
	record_tables(config_defaults().pages);
}

/* When others have gone, each has as many pages again as the configuration says. */
static void a_recording_of_tables_that_grow_back(void **unused)
{
	(void)unused;
	record_tables(4096);
}

static void refuse_the_first(enum fake_call call, unsigned int id)
{
	fake.call[CALL_START].error = call == CALL_START && id == 1 ? EXDEV : 0;
}

/* More is wanted than the host may move, and there is one that cannot be looked at. */
static void a_recording_without_one(void **unused)
{
	struct recording *r;
	const char *why;
	FILE *f = fopen("recorded.trace", "w");

	(void)unused;
	begin(4, 4);
	d.config.host_moves = 100;
	fake.between = refuse_the_first;
	r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 4 }, &why);
	fclose(f);
	periods(30);
	assert_int_equal(record_finish(r).error, 0);
	assert_false(has("recorded.trace", "domain 1 "));
	end();
}

/* It begins when there were some periods, but before its domains: whose turn it is to be the first goes on from there. */
static void a_recording_that_begins_late(void **unused)
{
	struct recording *r;
	const char *why;
	unsigned int i;
	FILE *f;

	(void)unused;
	begin(4, 3);
	d.config.host_moves = 100;
	for (i = 1; i <= 3; i++)
		fake_guest(i)->switches.carrefour = false;
	periods(5);
	f = fopen("recorded.trace", "w");
	r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 4 }, &why);
	fclose(f);
	periods(2);
	for (i = 1; i <= 3; i++)
		fake_guest(i)->switches.carrefour = true;
	fake.changed = true;
	periods(30);
	assert_int_equal(record_finish(r).error, 0);
	end();
}

/* One cannot be looked at for some periods, in which its table shrinks, and grows back. */
static void a_recording_with_a_gap(void **unused)
{
	struct recording *r;
	const char *why;
	unsigned int i, k;
	FILE *f = fopen("recorded.trace", "w");

	(void)unused;
	begin(4, 30);
	d.config.memory_mb = 16;
	fake.call[CALL_GET].of = 1;
	for (i = 1; i <= 30; i++) {
		fake_guest(i)->span = 1 << 14;
		fake_guest(i)->gone = i > 2;
	}
	r = record_begin(dup(fileno(f)), RECORD_ALL, &d.config, &(struct host){ .nr_nodes = 4 }, &why);
	fclose(f);
	for (i = 0; i < 50; i++) {
		fake.call[CALL_GET].error = i >= 15 && i < 35 ? EAGAIN : 0;
		for (k = 3; k <= 30; k++)
			fake_guest(k)->gone = i < 20 || i >= 30;
		fake.changed = true;
		periods(1);
	}
	assert_int_equal(record_finish(r).error, 0);
	end();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_is_quiet),
		cmocka_unit_test(metrics_say_what_is_known),
		cmocka_unit_test(answers_say_what_is_known),
		cmocka_unit_test(anything_may_fail),
		cmocka_unit_test(a_recording),
		cmocka_unit_test(a_recording_of_tables_that_grow_back),
		cmocka_unit_test(a_recording_without_one),
		cmocka_unit_test(a_recording_that_begins_late),
		cmocka_unit_test(a_recording_with_a_gap),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("told", tests, NULL, NULL);
}
