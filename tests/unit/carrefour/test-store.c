/* SPDX-License-Identifier: GPL-2.0-only */
/* store.c with a stand-in for libxenstore. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xenstore.h>

#include "chance.h"
#include "fake-memory.h"
#include "fake-xenstore.h"
#include "store/store.h"

static void begin(void)
{
	nr_keys = nr_events = at_event = broken = 0;
	list_is_broken = false;
	assert_true(store_open());
	assert_true(store_check());
}

static void end(void)
{
	struct switches *all;
	unsigned int nr;

	/* Nobody is left for the next test. */
	nr_keys = broken = 0;
	strcpy(events[nr_events++], "@releaseDomain");
	store_read();
	assert_true(store_switches(&all, &nr));
	assert_int_equal(nr, 0);
	free(all);
	store_close();
}

static struct switches *all;
static unsigned int nr;

static void look(void)
{
	free(all);
	all = NULL;
	store_read();
	assert_true(store_switches(&all, &nr));
}

static void one_change_costs_one_domain(void **unused)
{
	unsigned int i;

	(void)unused;
	begin();
	for (i = 1; i <= 200; i++)
		change(i, "numa-policy/carrefour", "1");
	look();
	assert_int_equal(nr, 200);
	store_read();
	assert_false(store_switches(&all, &nr));
	reads = 0;
	change(77, "numa-policy/auto", "advise");
	look();
	assert_true(reads <= 5);
	assert_true(nr == 200 && all[76].id == 77 && all[76].mode == AUTO_ADVISE && all[75].mode == AUTO_OFF);
	/* What is about devices costs nothing. */
	reads = 0;
	change(5, "device/vbd", "x");
	store_read();
	assert_false(store_switches(&all, &nr));
	assert_int_equal(reads, 0);
	end();
}

static void who_is_to_be_left_alone(void **unused)
{
	(void)unused;
	begin();
	change(7, "numa-policy/carrefour", "0");
	assert_false(store_keeps_off(7));
	assert_false(store_keeps_off(8));
	change(7, "numa-policy/auto", "0");
	assert_true(store_keeps_off(7));
	change(7, "numa-policy/auto", "advise");
	assert_false(store_keeps_off(7));
	/* Nobody can tell. */
	broken = 7;
	assert_true(store_keeps_off(7));
	broken = 0;
	end();
	assert_true(store_keeps_off(7));
}

static void hundreds_come_in_some_periods(void **unused)
{
	unsigned int i;

	(void)unused;
	begin();
	for (i = 1; i <= 600; i++)
		change(i, "numa-policy/carrefour", "1");
	reads = 0;
	look();
	assert_true(nr > 100 && nr < 600 && reads < 1500);
	look();
	look();
	assert_int_equal(nr, 600);
	end();
}

static void one_that_is_not_told_keeps_out_nobody(void **unused)
{
	int out, file = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char said[512] = "";

	(void)unused;
	begin();
	change(3, "numa-policy/carrefour", "1");
	change(4, "numa-policy/carrefour", "1");
	look();
	out = dup(STDERR_FILENO);
	dup2(file, STDERR_FILENO);
	broken = 3;
	change(3, "numa-policy/auto", "1");
	change(5, "numa-policy/carrefour", "1");
	look();
	assert_true(nr == 3 && all[0].id == 3 && all[0].carrefour && all[0].mode == AUTO_OFF && all[2].id == 5);
	look();
	fflush(stderr);
	dup2(out, STDERR_FILENO);
	close(out);
	assert_true(pread(file, said, sizeof(said) - 1, 0) > 0);
	close(file);
	/* Once, and with the number. */
	assert_non_null(strstr(said, "domain 3: "));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	broken = 0;
	look();
	assert_int_equal(all[0].mode, AUTO_ON);
	/* Without a list, all stays as it was. */
	list_is_broken = true;
	strcpy(events[nr_events++], "@releaseDomain");
	store_read();
	assert_false(store_switches(&all, &nr));
	list_is_broken = false;
	look();
	assert_int_equal(nr, 3);
	end();
}

/* A switch that could not be told for want of memory is told in the next period, though nothing has changed since. */
static void what_found_no_memory_is_told_again(void **unused)
{
	unsigned int at, failed;

	(void)unused;
	begin();
	change(3, "numa-policy/carrefour", "1");
	look();
	for (at = 0, failed = 1; failed; at++) {
		change(3, "numa-policy/auto", at % 2 ? "0" : "advise");
		change(100 + at, "numa-policy/carrefour", "1");
		store_read();
		free(all);
		all = NULL;
		memory_fails(at, 1);
		if (!store_switches(&all, &nr))
			nr = 0;
		failed = memory_failed();
		memory_fails(0, 0);
		if (failed)
			look();
		assert_true(nr == 2 + at && all[0].mode == (at % 2 ? AUTO_OFF : AUTO_ADVISE) && all[1 + at].id == 100 + at);
		assert_false(store_switches(&all, &nr));
	}
	/* There was one to fail: the table, and the copy. */
	assert_true(at >= 3);
	/* And what the caller has no memory for. */
	store_again();
	look();
	assert_int_equal(nr, 1 + at);
	assert_false(store_switches(&all, &nr));
	end();
}

static void names_are_text(void **unused)
{
	(void)unused;
	begin();
	change(3, "numa-policy/carrefour", "1");
	set_name(3, "x\n<0>kernel: fire\x1b[31m \xff\xc2\x9b \xc3\xa9");
	look();
	assert_string_equal(all[0].name, "x?<0>kernel: fire?[31m ?? \xc3\xa9");
	end();
}

/* As `xl rename` does, and a migration when it is over: nothing of /libxl changes. */
static void a_new_name_is_seen(void **unused)
{
	unsigned int i, period;
	char name[16];

	(void)unused;
	begin();
	for (i = 1; i <= 100; i++)
		change(i, "numa-policy/carrefour", "1");
	for (i = 1; i <= 100; i++)
		set_name(i, "vm--incoming");
	look();
	for (i = 1; i <= 100; i++) {
		sprintf(name, "vm%u", i);
		set_name(i, name);
	}
	for (period = 0; period < 30; period++) {
		reads = 0;
		assert_true(store_check());
		store_read();
		free(all);
		all = NULL;
		if (!store_switches(&all, &nr))
			break;
		/* Of hundreds, some at a time. */
		assert_true(reads < 100);
	}
	assert_true(period > 5 && period < 30);
	change(1, "numa-policy/carrefour", "1");
	look();
	for (i = 1; i <= 100; i++) {
		sprintf(name, "vm%u", i);
		assert_string_equal(all[i - 1].name, name);
	}
	/* It is going, and keeps its name until it is gone. */
	nr_keys -= 50;
	for (period = 0; period < 30; period++)
		assert_true(store_check());
	assert_false(store_switches(&all, &nr));
	end();
}

static void switch_carrefour_on(void)
{
	change(3, "numa-policy/carrefour", "1");
}

static void switch_auto_off(void)
{
	change(3, "numa-policy/auto", "0");
}

/* What others write meanwhile is newer than what auto has to write. */
static void others_have_the_last_word(void **unused)
{
	const struct chosen low = { .class = CLASS_LOW, .carrefour = false, .carrefour_was = false };
	const struct chosen high = { .class = CLASS_HIGH, .carrefour = true, .follows = true, .carrefour_was = false };
	bool left;

	(void)unused;
	begin();
	change(3, "numa-policy/auto", "1");
	/* Between auto's reading and its writing, and so between its period and this one. */
	meanwhile = switch_carrefour_on;
	assert_true(store_write_class(3, &low, &left));
	assert_true(left && !strcmp(value_of("/libxl/3/numa-policy/carrefour"), "1"));
	assert_string_equal(value_of("/libxl/3/numa-policy/auto-class"), "low");
	/* Off again, it is as auto knows it. */
	change(3, "numa-policy/carrefour", "0");
	assert_true(store_write_class(3, &high, &left));
	assert_true(!left && !strcmp(value_of("/libxl/3/numa-policy/carrefour"), "1"));
	assert_string_equal(value_of("/libxl/3/numa-policy/auto-follows"), "1");
	/* Nobody has to know that it is off by a key. */
	change(3, "numa-policy/carrefour", NULL);
	assert_true(store_write_class(3, &high, &left) && !left);
	/* No answer is no switch. */
	broken = 3;
	broken_key = "/carrefour";
	assert_false(store_write_class(3, &low, &left));
	assert_string_equal(value_of("/libxl/3/numa-policy/auto-class"), "high");
	broken = 0;
	broken_key = NULL;
	/* Of auto that is off nothing is written. */
	meanwhile = switch_auto_off;
	assert_false(store_write_class(3, &low, &left));
	assert_string_equal(value_of("/libxl/3/numa-policy/auto-class"), "high");
	end();
}

/* The model: what the keys say. */
static void anything_may_change(void **unused)
{
	static const char *const modes[] = { "0", "1", "advise" };
	unsigned int i, id, round;

	(void)unused;
	test_seed();
	begin();
	for (round = 0; round < 400; round++) {
		for (i = rnd(6); i; i--) {
			id = 1 + rnd(40);
			if (rnd(4) == 0) {
				forget(id);
				strcpy(events[nr_events++], rnd(2) ? "@releaseDomain" : "/libxl");
				break;
			}
			change(id, rnd(2) ? "numa-policy/carrefour" : "numa-policy/auto", modes[rnd(3)]);
		}
		broken = rnd(3) ? 0 : 1 + rnd(40);
		list_is_broken = rnd(5) == 0;
		store_read();
		free(all);
		all = NULL;
		store_switches(&all, &nr);
	}
	/* What was not told, was asked for again. */
	broken = 0;
	list_is_broken = false;
	strcpy(events[nr_events++], "@releaseDomain");
	look();
	for (id = 1, i = 0; id <= 40; id++) {
		char path[64];
		const char *carrefour, *mode;
		bool on, advise;

		snprintf(path, sizeof(path), "/libxl/%u/numa-policy/carrefour", id);
		carrefour = value_of(path);
		snprintf(path, sizeof(path), "/libxl/%u/numa-policy/auto", id);
		mode = value_of(path);
		on = carrefour && !strcmp(carrefour, "1");
		advise = mode && strcmp(mode, "0");
		if (!on && !advise)
			continue;
		assert_true(i < nr && all[i].id == id && all[i].carrefour == on && (all[i].mode != AUTO_OFF) == advise);
		i++;
	}
	assert_int_equal(i, nr);
	end();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_change_costs_one_domain),
		cmocka_unit_test(hundreds_come_in_some_periods), cmocka_unit_test(who_is_to_be_left_alone),
		cmocka_unit_test(one_that_is_not_told_keeps_out_nobody),
		cmocka_unit_test(what_found_no_memory_is_told_again),
		cmocka_unit_test(names_are_text),
		cmocka_unit_test(a_new_name_is_seen),
		cmocka_unit_test(others_have_the_last_word),
		cmocka_unit_test(anything_may_change),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
