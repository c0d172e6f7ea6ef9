/* SPDX-License-Identifier: GPL-2.0-only */
/* Periods of the daemon: what takes long, and how much memory there is. */
#include <errno.h>

#include "decide/decide.h"
#include "periods.h"

static unsigned int at_home(unsigned int id)
{
	struct fake_guest *g = fake_guest(id);
	unsigned int i, nr = 0;

	for (i = 0; i < g->span; i++)
		nr += g->home[i] == (uint64_t)i * fake.nr_nodes / g->span;
	return 100 * nr / g->span;
}

static void pages_come_home(void **unused)
{
	(void)unused;
	begin(4, 3);
	d.config.log_decisions = 2;
	periods(40);
	/* A quarter of them has been there from the start. */
	assert_true(at_home(1) > 80 && at_home(2) > 80 && at_home(3) > 80);
	assert_true(d.guest[0]->metrics.results[RESULT_DONE] == fake_guest(1)->moved && fake_guest(1)->moved > 1000);
	assert_true(lines("migrate gfn") >= 6 && lines("decisions more in this period") >= 3);
	end();
}

static void others_are_served_meanwhile(void **unused)
{
	unsigned int i;
	uint64_t begun;

	(void)unused;
	begin(4, 60);
	for (i = 1; i <= 60; i++) {
		struct fake_guest *g = fake_guest(i);

		g->switches = (struct switches){ .id = i, .mode = AUTO_ON, .class = CLASS_HIGH, .follows = true };
		g->policy.name = "round-4k";
		g->gfns = 1ULL << 40;
	}
	fake.call[CALL_REBALANCE].us = 1000;
	periods(2);
	for (i = 0; i < 30; i++) {
		begun = fake.now;
		periods(1);
		/* All of them together have a quarter of a period. */
		assert_true(fake.now - begun <= (1000 + 250 + 60) * MS);
	}
	assert_true(longest <= 100 * MS);
	/* Each has had its turn. */
	for (i = 0; i < d.nr; i++)
		assert_true(d.guest[i]->follow.gfn > 0);
	/* A call that takes long is followed by shorter ones. */
	fake.call[CALL_REBALANCE].us = 60000;
	periods(60);
	for (i = 0; i < d.nr; i++)
		assert_true(d.guest[i]->follow.step && d.guest[i]->follow.step < 4096);
	end();

	/* One alone has all of the time. */
	begin(4, 1);
	fake_guest(1)->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .class = CLASS_HIGH, .follows = true };
	fake_guest(1)->policy.name = "round-4k";
	fake_guest(1)->gfns = 1ULL << 40;
	fake.call[CALL_REBALANCE].us = 1000;
	periods(5);
	assert_true(d.guest[0]->follow.gfn > 500 * 4096 && longest > 0 && longest <= 100 * MS);
	end();
}

/* A step is as long as the call that it is; what others take in between makes the next one no shorter. */
static void the_time_of_others_is_not_its_own(void **unused)
{
	(void)unused;
	begin(4, 1);
	d.config.period_ms = 8000;
	fake_guest(1)->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .class = CLASS_HIGH, .follows = true };
	fake_guest(1)->policy.name = "round-4k";
	fake_guest(1)->gfns = 1ULL << 40;
	fake.call[CALL_REBALANCE].us = 1000;
	serving_takes = 60 * MS;
	periods(10);
	assert_true(fake.call[CALL_REBALANCE].calls > 20);
	assert_int_equal(d.guest[0]->follow.step, 0);
	end();
}

static void moves_and_questions_let_others_in(void **unused)
{
	(void)unused;
	begin(2, 40);
	fake.call[CALL_MOVE].us = 30000;
	fake.call[CALL_VCPUS].us = 20000;
	fake.call[CALL_POLICY_GET].us = 15000;
	periods(6);
	assert_true(fake.call[CALL_MOVE].calls > 40);
	assert_true(longest > 0 && longest <= 100 * MS);
	end();
}

static void the_end_is_not_put_off(void **unused)
{
	uint64_t begun;

	(void)unused;
	begin(2, 100);
	periods(3);
	fake.call[CALL_GET].us = 20000;
	end_after = 2;
	begun = fake.now;
	periods(1);
	assert_true(d.ends && fake.now - begun < (1000 + 200) * MS);
	end();
}

static void reload_soon(enum fake_call call, unsigned int id)
{
	(void)id;
	if (call == CALL_REBALANCE && fake.call[call].calls == 20 && !d.reloads) {
		d.reloads = true;
		fake.call[CALL_REBALANCE].calls = 0;
	}
}

/* SIGHUP waits for the end of the period, which does not wait for memory to follow. */
static void a_new_configuration_is_not_put_off(void **unused)
{
	(void)unused;
	begin(4, 1);
	d.config.period_ms = 8000;
	fake_guest(1)->switches = (struct switches){ .id = 1, .mode = AUTO_ON, .class = CLASS_HIGH, .follows = true };
	fake_guest(1)->policy.name = "round-4k";
	fake_guest(1)->gfns = 1ULL << 40;
	fake.call[CALL_REBALANCE].us = 10000;
	periods(3);
	fake.call[CALL_REBALANCE].calls = 0;
	fake.between = reload_soon;
	periods(1);
	assert_true(d.reloads && fake.call[CALL_REBALANCE].calls < 10);
	/* The next one goes on. */
	d.reloads = false;
	fake.between = NULL;
	fake.call[CALL_REBALANCE].calls = 0;
	periods(1);
	assert_true(fake.call[CALL_REBALANCE].calls > 100);
	end();
}

/* What came while others were looked at belongs to the next period, wherever its room is by then. */
static void samples_that_come_meanwhile_are_kept(void **unused)
{
	unsigned int i, n;
	uint64_t all[8] = { 0 };

	(void)unused;
	begin(2, 8);
	fake.call[CALL_POLICY_GET].us = 300000;
	for (i = 1; i <= 8; i++)
		fake_guest(i)->samples = 3000;
	for (n = 0; n < 20; n++) {
		periods(1);
		for (i = 0; i < 8; i++)
			all[i] += d.guest[i]->in.nr_samples;
	}
	/* But for those of the last periods. */
	for (i = 0; i < 8; i++)
		assert_true(all[i] >= 3000 * 17 && !d.guest[i]->metrics.lost);
	end();
}

static void memory_is_divided(void **unused)
{
	struct share one, many;
	unsigned int most, i;

	(void)unused;
	begin(2, 120);
	d.config.memory_mb = 16;
	most = memory_guests(&d.config, 2);
	assert_true(most > 60 && most < 100);
	periods(4);
	assert_int_equal(lines("not sampled: memory_mb is not enough for another guest; raise it in carrefour.conf"), 120 - most);
	assert_true(guests_bytes(&d) <= 16 * MIB + 120 * sizeof(struct guest));
	/* What leaves makes room, at the next try. */
	for (i = 1; i <= 60; i++)
		fake_guest(i)->gone = true;
	periods(33);
	assert_int_equal(d.nr, 60);
	for (i = 0; i < d.nr; i++)
		assert_true(d.guest[i]->sampling == SAMPLING_RUNS);
	end();
	/* Alone, a guest has all that it may want; of many, each has less; never more than there is, all together. */
	d.config = config_defaults();
	one = memory_share(&d.config, 64, 1, 1);
	assert_true(one.pages == d.config.pages && one.samples == 1 << 18);
	for (i = 1; i <= memory_guests(&d.config, 64); i++) {
		unsigned int active = 1 + i / 2;

		many = memory_share(&d.config, 64, i, active);
		assert_true(many.pages >= 1024 && many.pages <= one.pages && many.samples >= 1024);
		assert_true(active * memory_of(many, 64) + (i - active) * memory_of(memory_least(), 64) <= d.config.memory_mb * MIB);
	}
}

static void who_rests_gives_back(void **unused)
{
	(void)unused;
	begin(2, 2);
	periods(5);
	assert_int_equal(domain_pages(d.guest[0]->domain), 65536);
	fake_guest(1)->samples = 0;
	periods(70);
	assert_int_equal(domain_pages(d.guest[0]->domain), 1024);
	assert_int_equal(domain_pages(d.guest[1]->domain), 65536);
	fake_guest(1)->samples = 1000;
	periods(5);
	assert_int_equal(domain_pages(d.guest[0]->domain), 65536);
	end();
}

static void refuse_all_but_one(enum fake_call call, unsigned int id)
{
	fake.call[CALL_START].error = call == CALL_START && id > 1 ? EXDEV : 0;
}

/* What the others leave, one guest may have; so they keep nothing. */
static void who_is_refused_gives_back(void **unused)
{
	unsigned int i;

	(void)unused;
	begin(2, 5);
	d.config.memory_mb = 16;
	periods(5);
	for (i = 2; i <= 5; i++) {
		assert_true(domain_pages(d.guest[i - 1]->domain) == 16384);
		fake_guest(i)->state = XEN_UNFIT;
	}
	fake.between = refuse_all_but_one;
	for (i = 0; i < 70; i++) {
		periods(1);
		assert_true(guests_bytes(&d) <= 16 * MIB);
	}
	assert_int_equal(domain_pages(d.guest[0]->domain), 65536);
	fake.between = NULL;
	fake.call[CALL_START].error = 0;
	periods(40);
	for (i = 0; i < 5; i++)
		assert_true(d.guest[i]->looked && d.guest[i]->domain);
	assert_true(guests_bytes(&d) <= 16 * MIB);
	end();
}

/* One that cannot be looked at has its share, too, and no more: here its counters fail, for as long as that lasts. */
static void who_is_not_looked_at_gives_back(void **unused)
{
	unsigned int i;

	(void)unused;
	begin(2, 30);
	d.config.memory_mb = 16;
	for (i = 2; i <= 30; i++)
		fake_guest(i)->gone = true;
	periods(5);
	assert_int_equal(domain_pages(d.guest[0]->domain), 65536);
	fake.call[CALL_GET] = (struct fake_trouble){ .error = EAGAIN, .of = 1 };
	for (i = 2; i <= 30; i++)
		fake_guest(i)->gone = false;
	fake.changed = true;
	for (i = 0; i < 10; i++) {
		periods(1);
		assert_false(d.guest[0]->looked);
	}
	assert_true(d.guest[29]->looked && d.guest[29]->domain);
	assert_true(domain_pages(d.guest[0]->domain) <= domain_pages(d.guest[29]->domain));
	assert_true(guests_bytes(&d) <= 16 * MIB);
	/* What it has grows when it is used. */
	for (i = 2; i <= 30; i++)
		fake_guest(i)->gone = true;
	fake.changed = true;
	periods(5);
	assert_true(d.nr == 1 && domain_pages(d.guest[0]->domain) < 65536);
	fake.call[CALL_GET].error = 0;
	periods(3);
	assert_int_equal(domain_pages(d.guest[0]->domain), 65536);
	end();
}

static void affinity_is_asked_for_now_and_then(void **unused)
{
	(void)unused;
	begin(2, 10);
	periods(101);
	assert_true(fake.call[CALL_POLICY_GET].calls >= 1000);
	assert_true(fake.call[CALL_VCPUS].calls >= 100 && fake.call[CALL_VCPUS].calls <= 130);
	end();
}

static unsigned int domctls_of(unsigned int nr_periods)
{
	unsigned int before = fake.domctls;

	periods(nr_periods);
	return fake.domctls - before;
}

/* A domctl takes a lock that all toolstacks share: of no domain is there more than what is needed. */
static void little_is_asked_of_xen(void **unused)
{
	(void)unused;
	begin(2, 10);
	d.config.vm_moves = 0;
	periods(30);
	fake.call[CALL_MOVE].calls = 0;
	/* Counters and policy; every tenth period, the domain and its four vCPUs. */
	assert_int_equal(domctls_of(10) - fake.call[CALL_MOVE].calls, 10 * (10 * 2 + 5));
	/* Nothing has changed in xenstore, and there are no moves. */
	end();

	/* One that somebody else samples: whether that still is so. One that cannot be sampled: twice a minute. */
	begin(2, 10);
	fake.call[CALL_START].error = EBUSY;
	periods(2);
	assert_int_equal(domctls_of(60), 60 * 10);
	fake.call[CALL_START].error = EXDEV;
	periods(2);
	assert_int_equal(domctls_of(60), 2 * 10);
	end();

	/* One with nothing on, without metrics. */
	begin(2, 10);
	fake.changed = false;
	assert_int_equal(domctls_of(60), 0);
	end();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_come_home),
		cmocka_unit_test(others_are_served_meanwhile),
		cmocka_unit_test(the_time_of_others_is_not_its_own),
		cmocka_unit_test(moves_and_questions_let_others_in),
		cmocka_unit_test(the_end_is_not_put_off),
		cmocka_unit_test(a_new_configuration_is_not_put_off),
		cmocka_unit_test(samples_that_come_meanwhile_are_kept),
		cmocka_unit_test(memory_is_divided),
		cmocka_unit_test(who_rests_gives_back),
		cmocka_unit_test(who_is_refused_gives_back),
		cmocka_unit_test(who_is_not_looked_at_gives_back),
		cmocka_unit_test(affinity_is_asked_for_now_and_then),
		cmocka_unit_test(little_is_asked_of_xen),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("period", tests, NULL, NULL);
}
