/* SPDX-License-Identifier: GPL-2.0-only */
/* auto sets what it has found, beside an administrator who sets policies, too. */
#include <errno.h>
#include <string.h>

#include "periods.h"

static struct xen_policy by_hand;

/* The second question in a period is that of auto, just before it sets. */
static void set_by_hand(enum fake_call call, unsigned int id)
{
	if (call == CALL_POLICY_GET && fake.call[call].calls == 2)
		fake_guest(id)->policy = by_hand;
}

static void periods_with_auto(unsigned int nr)
{
	while (nr--) {
		fake.call[CALL_POLICY_GET].calls = 0;
		periods(1);
	}
}

/* Switched on, auto sets its policy once; home nodes and weights are those that there are by then. */
static void auto_keeps_home_nodes_and_weights(void **unused)
{
	struct fake_guest *g;

	(void)unused;
	begin(2, 1);
	g = fake_guest(1);
	g->switches = (struct switches){ .id = 1, .mode = AUTO_ON };
	g->policy.name = "round-4k";
	by_hand = (struct xen_policy){ .name = "round-2m", .home = 2, .nr_weights = 1, .weight = { 7 }, .max_pause_us = 9 };
	fake.between = set_by_hand;
	periods_with_auto(2);
	assert_int_equal(fake.call[CALL_POLICY_SET].calls, 1);
	assert_true(!strcmp(g->policy.name, "first-touch") && g->policy.home == 2 && g->policy.nr_weights == 1);
	assert_true(g->policy.weight[0] == 7 && g->policy.max_pause_us == 9 && g->page_events);
	end();
}

/* All of its memory is on one node of six: the class is to be high. */
static struct fake_guest *begin_imbalanced(void)
{
	struct fake_guest *g;

	begin(6, 1);
	d.config.auto_dwell_ms = 10000;
	g = fake_guest(1);
	g->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .class = CLASS_LOW };
	by_hand = g->policy;
	return g;
}

/* For another class: what is set by hand after its reason arose, stays until there is one that is newer. */
static void what_an_administrator_sets_meanwhile_stays(void **unused)
{
	struct fake_guest *g = begin_imbalanced();

	(void)unused;
	by_hand.name = "round-2m";
	fake.between = set_by_hand;
	periods_with_auto(40);
	assert_string_equal(g->policy.name, "round-2m");
	assert_int_equal(fake.call[CALL_POLICY_SET].calls, 0);
	assert_int_equal(lines("auto leaves the policy that was set meanwhile"), 1);
	/* Nor is the class told, of which it makes no use, nor Carrefour switched on. */
	assert_true(g->class == -1 && !g->switches.carrefour && d.guest[0]->auto_state.class == CLASS_LOW);
	end();

	/* Other home nodes, under which it can learn: then they are those that it sets its policy for. */
	g = begin_imbalanced();
	by_hand.home = 0x1f;
	by_hand.follows_affinity = false;
	fake.between = set_by_hand;
	periods_with_auto(15);
	assert_int_equal(lines("auto leaves the policy that was set meanwhile"), 1);
	assert_int_equal(fake.call[CALL_POLICY_SET].calls, 0);
	fake.between = NULL;
	periods_with_auto(20);
	assert_true(!strcmp(g->policy.name, "round-4k") && g->policy.home == 0x1f && g->class == CLASS_HIGH);
	end();

	/* Home nodes that follow the affinity were set by nobody. */
	g = begin_imbalanced();
	by_hand.home = 0x1f;
	fake.between = set_by_hand;
	periods_with_auto(15);
	assert_true(!strcmp(g->policy.name, "round-4k") && g->policy.home == 0x1f && g->class == CLASS_HIGH);
	assert_int_equal(lines("auto leaves the policy"), 0);
	end();
}

/* The second thing that auto writes in a period is its class. */
static void switch_by_hand(enum fake_call call, unsigned int id)
{
	if (call != CALL_WRITE || fake.call[call].calls != 2)
		return;
	fake_guest(id)->switches.carrefour = !fake_guest(id)->switches.carrefour;
	fake.changed = true;
}

/* In the very period in which auto writes that there is no Carrefour, or that there is. */
static void carrefour_switched_by_hand_stays(void **unused)
{
	struct fake_guest *g;

	(void)unused;
	begin(2, 1);
	g = fake_guest(1);
	g->switches = (struct switches){ .id = 1, .mode = AUTO_ON };
	fake.between = switch_by_hand;
	periods_with_auto(4);
	assert_true(g->class == CLASS_UNKNOWN && g->switches.carrefour && d.guest[0]->applied && d.guest[0]->domain);
	assert_int_equal(lines("auto leaves Carrefour on, as it was switched meanwhile"), 1);
	end();

	g = begin_imbalanced();
	g->switches.carrefour = true;
	fake.between = switch_by_hand;
	periods_with_auto(20);
	assert_true(g->class == CLASS_HIGH && !strcmp(g->policy.name, "round-4k") && !g->switches.carrefour);
	assert_int_equal(lines("auto leaves Carrefour off, as it was switched meanwhile"), 1);
	end();

	/* It takes auto some periods to write: what was switched in any of them is newer than its reason. */
	g = begin_imbalanced();
	g->switches.carrefour = true;
	fake.call[CALL_WRITE].error = EIO;
	periods_with_auto(20);
	g->switches.carrefour = false;
	fake.changed = true;
	periods_with_auto(2);
	fake.call[CALL_WRITE].error = 0;
	periods_with_auto(2);
	assert_true(g->class == CLASS_HIGH && !g->switches.carrefour);
	end();
}

/* What was switched before auto had its reason, it switches as it finds. */
static void carrefour_switched_before_is_auto_s(void **unused)
{
	struct fake_guest *g;

	(void)unused;
	begin(2, 1);
	g = fake_guest(1);
	g->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .carrefour = true };
	periods_with_auto(2);
	assert_true(g->class == CLASS_UNKNOWN && !g->switches.carrefour);
	end();

	/* With auto, in one command. */
	begin(2, 1);
	g = fake_guest(1);
	g->switches = (struct switches){ .id = 1, .mode = AUTO_ADVISE };
	periods_with_auto(2);
	g->switches.mode = AUTO_ON;
	g->switches.carrefour = fake.changed = true;
	periods_with_auto(2);
	assert_true(g->class == CLASS_UNKNOWN && !g->switches.carrefour);
	end();

	/* Before the class changed. */
	g = begin_imbalanced();
	g->switches.carrefour = true;
	periods_with_auto(2);
	g->switches.carrefour = false;
	fake.changed = true;
	periods_with_auto(20);
	assert_true(g->class == CLASS_HIGH && g->switches.carrefour);
	end();
}

/* Half done, as xenstore could not be written: it is tried again, until somebody else sets a policy. */
static void half_of_auto_is_tried_again(void **unused)
{
	struct fake_guest *g = begin_imbalanced();

	(void)unused;
	fake.call[CALL_WRITE].error = EIO;
	periods_with_auto(20);
	assert_true(!strcmp(g->policy.name, "round-4k") && g->class == -1 && fake.call[CALL_POLICY_SET].calls == 1);
	/* A daemon that is started now learns anew. */
	assert_int_equal(g->switches.class, CLASS_UNKNOWN);
	assert_int_equal(lines("auto cannot set round-4k,carrefour: xenstore cannot be written; tried again each period"), 1);
	/* Also if it is the one that there was before. */
	g->policy.name = "first-touch";
	periods_with_auto(5);
	assert_true(!strcmp(g->policy.name, "first-touch") && fake.call[CALL_POLICY_SET].calls == 1);
	assert_int_equal(lines("auto leaves the policy that was set meanwhile"), 1);
	assert_int_equal(g->switches.class, CLASS_LOW);
	end();

	g = begin_imbalanced();
	fake.call[CALL_WRITE].error = EIO;
	periods_with_auto(20);
	fake.call[CALL_WRITE].error = 0;
	periods_with_auto(1);
	assert_true(g->class == CLASS_HIGH && !g->page_events && g->switches.carrefour && d.guest[0]->applied);
	end();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_keeps_home_nodes_and_weights),
		cmocka_unit_test(what_an_administrator_sets_meanwhile_stays),
		cmocka_unit_test(carrefour_switched_by_hand_stays),
		cmocka_unit_test(carrefour_switched_before_is_auto_s),
		cmocka_unit_test(half_of_auto_is_tried_again),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
