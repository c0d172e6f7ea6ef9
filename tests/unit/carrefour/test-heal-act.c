/* SPDX-License-Identifier: GPL-2.0-only */
/* heal is on: vCPUs and memory come together, as far as may be, and whoever else has a say has it. */
#include <errno.h>
#include <string.h>

#include "heal-spread.h"
#include "periods.h"

/* The one that is spread has no policy. */
static void begin_to_heal(void)
{
	begin_spread(4);
	d.config.heal = HEAL_ON;
	fake_guest(1)->policy.name = "none";
}

/* Until its vCPUs are to go elsewhere. */
static void until_it_acts(void)
{
	unsigned int i;

	for (i = 0; i < 9000 && !fake.call[CALL_PREFER].calls; i++)
		periods(1);
	assert_in_range(i, 110, 8999);
}

static void vcpus_and_memory_come_together(void **unused)
{
	unsigned int home;

	(void)unused;
	begin_to_heal();
	until_it_acts();
	periods(120);
	assert_int_equal(lines("heal begins: xl vcpu-pin vm1 all - nodes:"), 1);
	assert_int_equal(lines("heal has ended with vm1: 1024 MiB moved, 0 pages stay"), 1);
	assert_int_equal(lines("heal begins") + lines("heal has ended"), 2);
	home = fake_guest(1)->prefers;
	assert_true(home == 1 || home == 2);
	assert_int_equal(fake_guest(1)->bytes[home - 1], 2 * GIB);
	assert_int_equal(fake_guest(1)->bytes[2 - home], 0);
	assert_int_equal(fake.call[CALL_PREFER].calls, 1);
	assert_int_equal(fake.call[CALL_REBALANCE].calls, 0);
	assert_int_equal(heal_budget_hour(&d.healing.budget, d.now), GIB);
	assert_view("\"tasks\": [], \"ledger\": {\"actions\": 1, ");
	assert_view("\"id\": 1, \"name\": \"vm1\", \"why\": \"gather\", ");
	/* It brings what was forecast, and is left alone. */
	periods(7200);
	assert_view("\"ledger\": {\"actions\": 1, \"paid\": 1, \"lost\": 0, \"regretted\": 0, \"stopped\": false, ");
	assert_int_equal(lines("heal begins"), 1);
	end();
}

static void rebalance(uint64_t gfns, unsigned int moves_a_page)
{
	begin_to_heal();
	fake_guest(1)->policy.name = "round-4k";
	fake_guest(1)->gfns = gfns;
	fake_guest(1)->moves_a_page = moves_a_page;
	until_it_acts();
	periods(5);
	assert_int_equal(fake.call[CALL_GATHER].calls, 0);
	assert_int_equal(fake.call[CALL_POLICY_SET].calls, 0);
	assert_int_equal(lines("heal has ended with vm1"), 1);
}

/* Xen knows where it wants each page of one that has a policy. */
static void one_with_a_policy_is_rebalanced(void **unused)
{
	const uint64_t *bytes;

	(void)unused;
	rebalance(300000, 0);
	assert_in_range(fake.call[CALL_REBALANCE].calls, 300000 / 4096, 300000 / 4096 + 1);
	assert_int_equal(lines("heal has ended with vm1: 0 MiB moved"), 1);
	end();
	/* By 2 MiB a page may take one with it that was at home. */
	rebalance(UINT64_MAX / 2, 2);
	bytes = fake_guest(1)->bytes;
	assert_true(!bytes[0] || !bytes[1]);
	assert_int_equal(lines("heal has ended with vm1: 2048 MiB moved, 0 pages stay"), 1);
	end();
	/* ... but not all that there are. */
	rebalance(UINT64_MAX / 2, 16);
	bytes = fake_guest(1)->bytes;
	assert_in_range(bytes[0] < bytes[1] ? bytes[0] : bytes[1], GIB / 2, GIB);
	assert_int_equal(lines("heal has ended with vm1: 2064 MiB moved, 0 pages stay"), 1);
	end();
}

/* A move of a GiB takes longer than a part of a period; others are served meanwhile. */
static void moving_takes_its_time(void **unused)
{
	(void)unused;
	begin_to_heal();
	until_it_acts();
	assert_int_equal(d.healing.nr_tasks, 0);
	end();
	begin_to_heal();
	fake.call[CALL_GATHER].us = 8000;
	until_it_acts();
	assert_int_equal(d.healing.nr_tasks, 1);
	assert_view("\"tasks\": [{\"id\": 1, \"nodes\": [");
	assert_in_range(longest, 0, 60 * MS);
	periods(20);
	assert_int_equal(d.healing.nr_tasks, 0);
	assert_int_equal(lines("heal has ended with vm1: 1024 MiB moved"), 1);
	end();
	/* For more than a minute: what was decided is done first. */
	begin_to_heal();
	fake.call[CALL_GATHER].us = 300000;
	until_it_acts();
	periods(62);
	assert_int_equal(lines("heal begins"), 1);
	assert_int_equal(d.healing.nr_tasks, 1);
	end();
}

/* Its vCPUs go back if nothing could move, and it is not tried again if Xen never will. */
static void trouble_undoes(void **unused)
{
	unsigned int i;

	(void)unused;
	begin_to_heal();
	fake.call[CALL_GATHER].error = EXDEV;
	until_it_acts();
	periods(200);
	assert_int_equal(lines("heal has ended with vm1: Invalid cross-device link; 0 MiB moved"), 1);
	assert_int_equal(fake.call[CALL_PREFER].calls, 2);
	assert_int_equal(fake_guest(1)->prefers, 3);
	assert_view("\"name\": \"vm1\", \"load_cpus\": 2.000, \"result\": \"unmovable\", \"action\": null");
	end();
	begin_spread(9);
	d.config.heal = HEAL_ON;
	for (i = 1; i <= 6; i++) {
		fake_guest(i)->policy.name = "none";
		fake_guest(i)->bytes[0] = fake_guest(i)->bytes[1] = GIB;
		fake_guest(i)->load = 0.5;
		fake_guest(i)->prefers = 3;
	}
	/* Nor is heal to stop for all, as some have devices. */
	fake.call[CALL_GATHER].error = EXDEV;
	periods(14400);
	assert_int_equal(lines("heal has ended with"), 6);
	assert_view("\"actions\": 6, \"paid\": 0, \"lost\": 0, \"regretted\": 0, \"stopped\": false, ");
	assert_view("\"state\": \"undone\"");
	end();
	/* Xen would, but nothing of it can move: not each minute. */
	rebalance(300000, 0);
	periods(1800);
	assert_int_equal(lines("heal begins"), 1);
	assert_int_equal(fake_guest(1)->prefers, 3);
	periods(80000);
	assert_in_range(lines("heal begins"), 2, 6);
	assert_view("\"lost\": 0, \"regretted\": 0, \"stopped\": false, ");
	end();
	begin_to_heal();
	fake.call[CALL_PREFER].error = EPERM;
	until_it_acts();
	periods(2);
	assert_int_equal(lines("heal has ended with vm1: Operation not permitted; 0 MiB moved"), 1);
	assert_int_equal(fake.call[CALL_GATHER].calls, 0);
	end();
}

static void goes(void) { fake_guest(1)->gone = true; }
static void is_named_now(void) { fake_guest(1)->policy.follows_affinity = false; }
static void is_pinned_now(void) { fake_guest(1)->may = 1; }
static void is_sent_elsewhere(void) { fake_guest(1)->prefers = 3; }
static void is_off_now(void) { fake_guest(1)->keeps_off = true; }
static void is_switched(void) { d.config.heal = HEAL_ADVISE; }

/* While its memory moves. */
static void what_happens_meanwhile(void (*change)(void), unsigned int said, const char *why)
{
	unsigned int calls;

	begin_to_heal();
	fake.call[CALL_GATHER].us = 8000;
	until_it_acts();
	change();
	calls = fake.call[CALL_GATHER].calls;
	periods(20);
	assert_int_equal(d.healing.nr_tasks, 0);
	assert_int_equal(fake.call[CALL_GATHER].calls, calls);
	assert_int_equal(lines("heal has ended with vm1"), said);
	if (said)
		assert_int_equal(lines(why), 1);
	end();
}

static void others_have_their_will(void **unused)
{
	(void)unused;
	what_happens_meanwhile(is_named_now, 1, "it has home nodes of its own now");
	what_happens_meanwhile(is_pinned_now, 1, "its CPUs are named now");
	what_happens_meanwhile(is_sent_elsewhere, 1, "its vCPUs have been sent elsewhere");
	what_happens_meanwhile(is_off_now, 1, "it has auto=off now");
	what_happens_meanwhile(is_switched, 0, NULL);
	/* It is known until the next look. */
	what_happens_meanwhile(goes, 1, "No such process");
}

/* As much as an hour may move; the rest of it comes in the next ones. */
static uint64_t apart(void)
{
	const uint64_t *bytes = fake_guest(1)->bytes;

	return bytes[0] < bytes[1] ? bytes[0] : bytes[1];
}

static void an_hour_has_its_budget(void **unused)
{
	unsigned int i;

	(void)unused;
	begin_to_heal();
	for (i = 0; i < 2; i++)
		fake.bytes[i] = 16 * GIB;
	for (i = 0; i < 5 * 3600; i++) {
		periods(1);
		assert_in_range(heal_budget_hour(&d.healing.budget, d.now), 0, 32 * GIB / 100);
		/* It is old enough after half an hour, and a part has moved, or two. */
		if (i == 3600)
			assert_in_range(apart(), GIB / 3, 3 * GIB / 4);
	}
	assert_in_range(lines("heal begins"), 3, 6);
	/* What is left is not worth a move. */
	assert_in_range(apart(), 0, GIB / 20);
	end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_and_memory_come_together), cmocka_unit_test(one_with_a_policy_is_rebalanced),
		cmocka_unit_test(moving_takes_its_time), cmocka_unit_test(trouble_undoes), cmocka_unit_test(others_have_their_will),
		cmocka_unit_test(an_hour_has_its_budget),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("heal-act", tests, NULL, NULL);
}
