/* SPDX-License-Identifier: GPL-2.0-only */
/* auto: a choice by forecast, with hysteresis, and the way back. */
#include <string.h>

#include "decide/auto.h"
#include "chance.h"
#include "decide/sample.h"

/* A period under first-touch on eight nodes. What one of them has too much of is mostly far away. */
static struct auto_input seen(unsigned int imbalance)
{
	return (struct auto_input){
		.ns = 1000 * MS, .running = 1, .touched = 1, .samples = 1000, .imbalance = imbalance, .detour = imbalance / 3,
		.spread = 875, .policy = "first-touch",
	};
}

static enum auto_class after(struct auto_state *s, unsigned int imbalance, unsigned int seconds, bool carrefour,
			     struct advice *last)
{
	struct config c = config_defaults();
	struct auto_input in = seen(imbalance);

	in.carrefour = carrefour;

	while (seconds--)
		*last = auto_step(s, &c, &in);
	return last->class;
}

/* So many seconds interleaved over four nodes; of 1000 samples of pages that were sampled before, @same from the same node. */
static struct advice interleaved(struct auto_state *s, unsigned int same, unsigned int seconds)
{
	struct config c = config_defaults();
	struct auto_input in = {
		.ns = 1000 * MS, .running = 1, .touched = 1, .samples = 1000, .again = 1000, .again_same = same, .home_nodes = 4,
		.spread = 750, .policy = "round-4k", .carrefour = true,
	};
	struct advice a = { .class = CLASS_UNKNOWN };

	while (seconds--)
		a = auto_step(s, &c, &in);
	return a;
}

static void auto_has_hysteresis(void **unused)
{
	struct auto_state s = auto_begin();
	struct advice a;
	unsigned int i;

	(void)unused;
	assert_int_equal(after(&s, 200, 29, false, &a), CLASS_UNKNOWN);
	assert_string_equal(a.policy, "first-touch");
	assert_int_equal(after(&s, 200, 1, false, &a), CLASS_LOW);
	assert_int_equal(a.why, AUTO_CHANGED);
	/* What would be moderate from the beginning is no gain to change for, however long. */
	for (i = 0; i < 300; i++)
		assert_int_equal(after(&s, i % 2 ? 430 : 370, 1, false, &a), CLASS_LOW);
	assert_int_equal(after(&s, 400, 300, false, &a), CLASS_LOW);
	/* A short phase is no reason either. */
	assert_int_equal(after(&s, 2000, 10, false, &a), CLASS_LOW);
	assert_int_equal(after(&s, 100, 200, false, &a), CLASS_LOW);
	assert_int_equal(after(&s, 1100, 200, false, &a), CLASS_MODERATE);
	assert_true(a.carrefour);
	assert_string_equal(a.policy, "first-touch");
	/* What Carrefour has repaired says nothing about the guest; what it cannot, does. */
	assert_int_equal(after(&s, 100, 300, true, &a), CLASS_MODERATE);
	assert_int_equal(after(&s, 2000, 300, true, &a), CLASS_HIGH);
	assert_string_equal(a.policy, "round-4k");
	assert_true(a.carrefour);
	assert_int_equal(after(&s, 100, 300, false, &a), CLASS_LOW);
}

/* What was forecast when the class was found, and what is seen since, whatever was seen before. */
static void auto_tells_what_came(void **unused)
{
	struct auto_state s = auto_begin();
	struct advice a;
	char text[512];

	(void)unused;
	after(&s, 200, 29, false, &a);
	assert_int_equal(a.expected, -1);
	after(&s, 200, 1, false, &a);
	assert_true(a.expected == 1044 && a.came == -1);
	after(&s, 100, 1, false, &a);
	assert_true(a.expected == 1044 && a.came == 1019);
	auto_explain(text, sizeof(text), &a);
	assert_non_null(strstr(text, "; 104 % were expected, and 102 % have come; "));
	/* It comes back from where nobody has seen what it would be like. */
	after(&s, 2600, 300, false, &a);
	assert_true(a.class == CLASS_HIGH && a.expected > 1100);
	interleaved(&s, 1000, 300);
	assert_true(s.class == CLASS_MODERATE && s.expected < 0);
}

/* A second in which the guest was so active. */
static enum auto_class second(struct auto_state *s, double activity, unsigned int imbalance)
{
	struct config c = config_defaults();
	struct auto_input in = seen(imbalance);

	in.running = -1;
	in.touched = activity;
	return auto_step(s, &c, &in).class;
}

/* A master initializes, which takes long and is even, then all work on what it has made. */
static void auto_weighs_by_activity(void **unused)
{
	struct config c = config_defaults();
	struct auto_input few = { .ns = 1000 * MS, .running = 1, .touched = 1, .samples = c.min_samples - 1, .policy = "first-touch" };
	struct auto_state s = auto_begin(), alike = auto_begin();
	unsigned int i;

	(void)unused;
	for (i = 0; i < 600; i++) {
		second(&s, i % 16 < 12 ? 0.01 : 0.5, i % 16 < 12 ? 100 : 2600);
		second(&alike, 1, i % 16 < 12 ? 100 : 2600);
	}
	assert_int_equal(s.class, CLASS_HIGH);
	assert_true(s.mean.value > 2400);
	assert_int_equal(alike.class, CLASS_MODERATE);
	/* One that is calm all the time is known as soon as others; a few samples are no time at which it was not. */
	s = auto_begin();
	for (i = 0; i < 29; i++) {
		assert_int_equal(second(&s, 0.01, 2600), CLASS_UNKNOWN);
		auto_step(&s, &c, &few);
	}
	assert_int_equal(second(&s, 0.01, 2600), CLASS_HIGH);
	/* And what it did once is forgotten. */
	s = auto_begin();
	for (i = 0; i < 60; i++)
		second(&s, 0.8, 100);
	for (i = 0; i < 600 && second(&s, 0.1, 2600) != CLASS_HIGH; i++)
		;
	assert_in_range(i, 100, 400);
	/* At rest altogether, it is not divided by nothing. */
	s = auto_begin();
	assert_int_equal(second(&s, 0, 2600), CLASS_UNKNOWN);
	assert_int_equal(second(&s, 0, 2600), CLASS_UNKNOWN);
}

/* A mean is one of all that it is of, from the beginning. */
static void auto_does_not_begin_with_a_prejudice(void **unused)
{
	struct auto_state s = auto_begin();
	unsigned int i;

	(void)unused;
	second(&s, 1, 0);
	for (i = 0; i < 3; i++)
		second(&s, 1, 2000);
	assert_int_equal(s.mean.value + 0.5, 1500);
}

static struct auto_input input_of(uint64_t ran_ns, unsigned int nr_vcpus, uint64_t marked, uint64_t faults)
{
	struct verdict v = { .state = STATE_IDLE };
	struct input in = { .ns = 1000 * MS, .ran_ns = ran_ns, .nr_vcpus = nr_vcpus, .marked = marked, .faults = faults };

	return auto_input_of(&in, &v, "first-touch", false);
}

static void auto_knows_how_active_a_guest_is(void **unused)
{
	(void)unused;
	assert_int_equal(100 * input_of(8000 * MS, 8, 1000, 600).running, 100);
	assert_int_equal(100 * input_of(1000 * MS, 8, 1000, 600).running, 12);
	assert_int_equal(100 * input_of(1000 * MS, 8, 1000, 600).touched, 60);
	/* Time that Xen counted late is no more than all. */
	assert_int_equal(input_of(16000 * MS, 8, 1000, 600).running, 1);
	/* Faults without so many marks are of those before. */
	assert_true(input_of(8000 * MS, 8, 300, 600).touched < 0);
	assert_true(input_of(8000 * MS, 8, 0, 600).touched < 0);
	assert_true(input_of(0, 8, 1000, 600).running < 0);
}

/* What a period does not tell is neither all nor nothing. */
static void auto_keeps_what_it_knew_of_activity(void **unused)
{
	struct config c = config_defaults();
	struct auto_input in = {
		.ns = 1000 * MS, .running = 0.5, .touched = 0.1, .samples = 1000, .policy = "first-touch",
	};
	struct auto_state s = auto_begin();
	unsigned int i;

	(void)unused;
	/* Not yet: of what is taken for all in the meantime nothing is left. */
	in.running = -1;
	auto_step(&s, &c, &in);
	assert_true(s.mean.ns == in.ns);
	in.running = 0.5;
	for (i = 0; i < 10; i++) {
		in.touched = i % 2 ? -1 : 0.1;
		in.running = i % 3 ? 0.5 : i ? -1 : 0.5;
		auto_step(&s, &c, &in);
		assert_in_range(1e6 * s.busiest + 0.5, 49999, 50001);
		assert_in_range(s.mean.ns, (i + 2) * in.ns - 20, (i + 2) * in.ns);
	}
}

/* A dwell time of 0 is the last period. */
static void auto_without_a_dwell_time_goes_by_each_period(void **unused)
{
	struct config c = config_defaults();
	struct auto_input in = seen(0);
	struct auto_state s = auto_begin();

	(void)unused;
	c.auto_dwell_ms = 0;
	assert_int_equal(auto_step(&s, &c, &in).class, CLASS_LOW);
	in = seen(2000);
	assert_int_equal(auto_step(&s, &c, &in).class, CLASS_HIGH);
}

static void auto_learns_of_imbalance_under_first_touch_only(void **unused)
{
	struct config c = config_defaults();
	struct auto_state s = auto_begin();
	struct auto_input in = seen(2000);
	struct advice a;

	(void)unused;
	in.ns = 60000 * MS;
	in.policy = "round-4k";
	a = auto_step(&s, &c, &in);
	assert_int_equal(a.why, AUTO_NOT_ITS_POLICY);
	in.policy = "first-touch";
	in.samples = c.min_samples - 1;
	a = auto_step(&s, &c, &in);
	assert_int_equal(a.why, AUTO_FEW_SAMPLES);
	assert_int_equal(a.class, CLASS_UNKNOWN);
	in.samples++;
	a = auto_step(&s, &c, &in);
	assert_int_equal(a.class, CLASS_HIGH);
}

static void auto_comes_back_for_private_pages(void **unused)
{
	struct auto_state s = auto_begin();
	struct advice a;
	unsigned int seconds = 300;

	(void)unused;
	after(&s, 2000, 30, false, &a);
	assert_int_equal(a.class, CLASS_HIGH);
	/* Shared by all: by chance the same node comes again in a quarter of all cases, which is no private page. */
	a = interleaved(&s, 250, 1000);
	assert_true(a.class == CLASS_HIGH && a.why == AUTO_SAME && a.private == 0);
	/* 80 % of accesses: three quarters of the other 20 % are from another node. */
	a = interleaved(&s, 840, 1000);
	assert_true(a.class == CLASS_HIGH && a.private == 787);
	s.private = (struct mean){ .value = -1 };
	a = interleaved(&s, 860, 299);
	assert_true(a.class == CLASS_HIGH && a.why == AUTO_WAITING);
	a = interleaved(&s, 860, 1);
	assert_true(a.class == CLASS_MODERATE && a.why == AUTO_CHANGED && a.carrefour && a.private == 813);
	assert_string_equal(a.policy, "first-touch");
	/* Who goes to and fro does so ever less often, but always can. */
	while (seconds < 300 << 6) {
		after(&s, 2000, 29, true, &a);
		assert_true(a.class == CLASS_MODERATE && a.private == -1);
		after(&s, 2000, 1, true, &a);
		assert_int_equal(a.class, CLASS_HIGH);
		seconds *= 2;
		assert_int_equal(interleaved(&s, 1000, seconds - 1).class, CLASS_HIGH);
		assert_int_equal(interleaved(&s, 1000, 1).class, CLASS_MODERATE);
	}
	after(&s, 2000, 30, true, &a);
	assert_int_equal(interleaved(&s, 1000, seconds).class, CLASS_MODERATE);
	after(&s, 100, 1, true, &a);
	assert_int_equal(a.imbalance, 100);
}

/* As when a master initializes: all is private, to its node. */
static void private_pages_of_one_node_are_no_way_back(void **unused)
{
	struct config c = config_defaults();
	struct auto_state s = auto_begin();
	struct auto_input in = {
		.ns = 600000 * MS, .running = 1, .touched = 1, .samples = 1000, .own_imbalance = 1158, .again = 1000,
		.again_same = 1000, .home_nodes = 4, .spread = 750, .policy = "round-4k",
	};

	(void)unused;
	s.class = s.candidate = CLASS_HIGH;
	assert_int_equal(auto_step(&s, &c, &in).why, AUTO_SAME);
	in.own_imbalance = 1157;
	assert_int_equal(auto_step(&s, &c, &in).class, CLASS_MODERATE);
}

static void few_samples_are_no_way_back(void **unused)
{
	struct config c = config_defaults();
	struct auto_state s = auto_begin();
	struct auto_input in = {
		.ns = 600000 * MS, .running = 1, .touched = 1, .samples = 1000, .again = c.min_samples - 1,
		.again_same = c.min_samples - 1, .home_nodes = 4, .spread = 750, .policy = "round-4k",
	};

	(void)unused;
	s.class = s.candidate = CLASS_HIGH;
	assert_int_equal(auto_step(&s, &c, &in).why, AUTO_FEW_SAMPLES);
	in.again = in.again_same = c.min_samples;
	/* Nothing is interleaved on one node, and another policy was set by others. */
	in.home_nodes = 1;
	assert_int_equal(auto_step(&s, &c, &in).why, AUTO_FEW_SAMPLES);
	in.home_nodes = 4;
	in.policy = "round-2m";
	assert_int_equal(auto_step(&s, &c, &in).why, AUTO_NOT_ITS_POLICY);
	in.policy = "round-4k";
	assert_int_equal(auto_step(&s, &c, &in).class, CLASS_MODERATE);
}

static enum auto_class at_once(unsigned int imbalance, unsigned int detour, unsigned int spread)
{
	struct config c = config_defaults();
	struct auto_state s = auto_begin();
	struct auto_input in = seen(imbalance);

	in.ns = 60000 * MS;
	in.detour = detour;
	in.spread = spread;
	return auto_step(&s, &c, &in).class;
}

/* By hand: 1 + 0.5 of the detour + 0.28 of the squared imbalance, and with Carrefour half of both. */
static void auto_chooses_by_memory_time(void **unused)
{
	struct placed placed = { .imbalance = 1000, .detour = 400, .spread = 800 };

	(void)unused;
	assert_int_equal(forecast(&placed, CLASS_LOW) + 0.5, 1480);
	assert_int_equal(forecast(&placed, CLASS_MODERATE) + 0.5, 1170);
	assert_int_equal(forecast(&placed, CLASS_HIGH) + 0.5, 1200);
	/* Local, and as even as may be. */
	assert_int_equal(at_once(0, 0, 875), CLASS_LOW);
	assert_int_equal(at_once(300, 100, 875), CLASS_LOW);
	/* Far, and even: what can come home, Carrefour finds. */
	assert_int_equal(at_once(0, 500, 875), CLASS_MODERATE);
	assert_int_equal(at_once(900, 200, 875), CLASS_MODERATE);
	/* A master's, all of it; on two nodes, too, where the imbalance is 100 % at most. */
	assert_int_equal(at_once(2600, 800, 875), CLASS_HIGH);
	assert_int_equal(at_once(1000, 500, 500), CLASS_HIGH);
	/* The same where the others are hardly any farther. */
	assert_int_equal(at_once(1000, 25, 25), CLASS_HIGH);
	/* And where they are so far that half of it is worse than to wait. */
	assert_int_equal(at_once(1000, 100, 1500), CLASS_MODERATE);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_weighs_by_activity),
		cmocka_unit_test(auto_does_not_begin_with_a_prejudice),
		cmocka_unit_test(auto_knows_how_active_a_guest_is),
		cmocka_unit_test(auto_keeps_what_it_knew_of_activity),
		cmocka_unit_test(auto_without_a_dwell_time_goes_by_each_period),
		cmocka_unit_test(auto_chooses_by_memory_time),
		cmocka_unit_test(auto_has_hysteresis),
		cmocka_unit_test(auto_tells_what_came),
		cmocka_unit_test(auto_learns_of_imbalance_under_first_touch_only),
		cmocka_unit_test(auto_comes_back_for_private_pages),
		cmocka_unit_test(private_pages_of_one_node_are_no_way_back),
		cmocka_unit_test(few_samples_are_no_way_back),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("auto", tests, NULL, NULL);
}
