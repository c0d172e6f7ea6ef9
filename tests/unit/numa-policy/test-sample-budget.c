/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget of access sampling on guests of random size, load and mood, of which it knows nothing: whatever entries cost, no more is spent
 * than was allowed, but for what was under way at the end, and most of what was allowed is used where there is something to be had for it.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/param.h>

#include "machine.h"
#include "sample-budget.h"

#define WORTH 64

s_time_t NOW(void)
{
	return 0;
}

/* A guest, and what Xen does not know of it; times in ns. */
struct world {
	struct sample_budget b;
	unsigned int vcpus;
	double busy;			/* of the vCPUs' time */
	uint64_t entry, fault, period, flush;	/* to mark and to clear one, the fault on it, a period's work, a flush for 64 */
	double hot;			/* of the entries are accessed */
	unsigned int noise;		/* one of so many periods is ... */
	uint64_t disturbed;		/* ... disturbed for so long; 0: none is */
	/* what has become of it */
	uint64_t time, ran, spent, marked, periods, looks;	/* looks: spent while there was nothing marked */
	uint64_t largest;		/* cost of a period */
	unsigned int left, last;	/* marks of the period before, and of the last one that had some */
};

/* Between low and high, as likely in each decade. */
static uint64_t some(uint64_t low, uint64_t high)
{
	uint64_t top = low;

	while (top < high && rnd(4))
		top *= 2;
	return low + rnd(2000000000) % (MIN(top, high) - low + 1);
}

static void change_mood(struct world *w)
{
	w->busy = rnd(5) ? rnd(1001) / 1000.0 : 0;
	w->hot = rnd(101) / 100.0;
	w->entry = some(200, 20000);
	w->fault = some(1000, 100000);
}

static void new_world(struct world *w, unsigned int share, unsigned int entries, unsigned int period_ms)
{
	memset(w, 0, sizeof(*w));
	w->last = WORTH;
	w->vcpus = 1 + rnd(rnd(2) ? 4 : 128);
	w->period = some(1000, 20000) + 300 * w->vcpus;
	w->flush = some(2000, 500000);
	change_mood(w);
	sample_budget_init(&w->b, share, entries, MILLISECS(period_ms), w->vcpus);
}

/* One that is busy all the time and accesses no entry, each of which costs that much. */
static void new_simple_world(struct world *w, unsigned int share, unsigned int entries, unsigned int period_ms,
			     unsigned int vcpus, uint64_t entry)
{
	new_world(w, share, entries, period_ms);
	w->vcpus = vcpus;
	sample_budget_init(&w->b, share, entries, MILLISECS(period_ms), vcpus);
	w->busy = 1;
	w->entry = entry;
	w->hot = 0;
	w->flush = 2000;
	w->period = 1000;
}

static void one_period(struct world *w, uint64_t ran, uint64_t spent, uint64_t marked)
{
	unsigned int nr = sample_budget_begin(&w->b, ran, spent, marked);

	assert_true(nr <= w->b.entries);
	/* they may cost more than any before them */
	assert_true(nr <= MAX(2 * w->last, WORTH));
	w->last = nr ? nr : w->last;
	w->left = nr;
}

/* Goes on for so long. */
static void live(struct world *w, uint64_t ns)
{
	uint64_t end = w->time + ns, ran = 0, spent = 0, marked = 0;

	while (w->time < end) {
		unsigned int before = w->left;
		uint64_t length;

		one_period(w, ran, spent, marked);
		length = sample_budget_length(&w->b);
		assert_true(length >= w->b.period && length <= MAX((uint64_t)w->b.period, SECONDS(1)));
		marked = w->left;
		spent = w->period + before * w->entry / 2 + marked * w->entry / 2 + (marked + WORTH - 1) / WORTH * w->flush +
			(w->busy > 0 ? (uint64_t)(marked * w->hot) * w->fault : 0);
		if (w->disturbed && !rnd(w->noise))
			spent += w->disturbed;
		ran = length * w->vcpus * w->busy;
		w->time += length;
		w->periods++;
		w->ran += ran;
		w->spent += spent;
		w->marked += marked;
		w->looks += marked || before ? 0 : spent;
		w->largest = MAX(w->largest, spent);
	}
	one_period(w, ran, spent, marked);
}

static uint64_t allowed(const struct world *w)
{
	return w->ran * w->b.share / 1000;
}

/* What a period costs that marks so many. */
static double cost(const struct world *w, double nr)
{
	return w->period + nr * (w->entry + w->hot * w->fault) + nr / WORTH * w->flush;
}

/* Whatever guests do, and however wrong what was learnt of them may be. */
static void never_more_than_allowed(void **unused)
{
	(void)unused;
	test_seed();
	for (int round = 0; round < 400; round++) {
		unsigned int entries = 1 + rnd(rnd(2) ? 65536 : 200);
		struct world w;

		new_world(&w, 1 + rnd(rnd(2) ? 1000 : 30), entries, 10 + rnd(rnd(2) ? 1000 : 30));
		if (!rnd(3)) {
			w.noise = 1 + rnd(200);
			w.disturbed = some(100000, 2000000000);
		}
		for (int mood = 1 + rnd(20); mood; mood--) {
			live(&w, SECONDS(1 + rnd(60)));
			change_mood(&w);
		}
		/* what a period costs is seen when it is over only; to look at a guest that sleeps is not marking */
		assert_true(w.spent - w.looks <= allowed(&w) + 2 * w.largest);
		assert_true(!w.marked || w.spent >= w.marked * 100);
	}
}

/* A guest that is busy all the time, however small it is, and however small its budget. */
static void is_not_starved(void **unused)
{
	unsigned int few = 0;

	(void)unused;
	test_seed();
	for (int round = 0; round < 300; round++) {
		unsigned int entries = 1 + rnd(rnd(2) ? 20000 : 200), share = 1 + rnd(rnd(2) ? 1000 : 30), period = 10 + rnd(rnd(2) ? 1000 : 30);
		double affordable, wanted, looks;
		struct world w;

		new_world(&w, share, entries, period);
		w.busy = 0.2 + rnd(81) / 100.0;
		if (!rnd(10)) {		/* by far cheaper than it is thought to be at first */
			w.entry = 200;
			w.hot = 0;
			w.flush = 2000;
		}
		live(&w, SECONDS(100));
		w.marked = w.spent = w.ran = 0;
		live(&w, SECONDS(1000));
		/* by single flushes' worth, after what looking costs while it saves */
		looks = 1000.0 * w.period;
		affordable = (allowed(&w) - looks) / cost(&w, WORTH) * MIN(WORTH, entries);
		wanted = 1000.0 * 1000 / period * entries;
		if (affordable < 10 * WORTH || allowed(&w) < 4 * looks)
			few++;
		else
			assert_true(w.marked >= MIN(affordable, wanted) * 0.5);
	}
	assert_true(few < 150);
}

/* Entries that are far cheaper than is thought at first: soon all that are wanted are marked. */
static void what_it_costs_is_learnt(void **unused)
{
	struct world w;

	(void)unused;
	test_seed();
	new_simple_world(&w, 20, 30000, 100, 4, 200);
	live(&w, SECONDS(10));
	w.marked = 0;
	live(&w, SECONDS(10));
	assert_true(w.marked >= 90 * 30000);
}

/* A period's share of a small guest does not pay for what is marked at once: it saves for that, and does not wait until it may try. */
static void a_small_one_saves(void **unused)
{
	struct world w;

	(void)unused;
	test_seed();
	new_simple_world(&w, 1, 200, 10, 1, 5000);
	live(&w, SECONDS(100));
	w.marked = w.spent = w.ran = w.looks = 0;
	live(&w, SECONDS(1000));
	assert_true(w.marked >= allowed(&w) / cost(&w, WORTH) * WORTH * 0.5);
}

/* Flushes that cost by far more than entries: they are made for many of them. */
static void a_flush_is_shared(void **unused)
{
	struct world w;

	(void)unused;
	test_seed();
	new_simple_world(&w, 1, 200, 10, 1, 500);
	w.flush = 200000;
	live(&w, SECONDS(100));
	w.marked = w.ran = 0;
	live(&w, SECONDS(1000));
	assert_true(w.marked >= allowed(&w) / cost(&w, WORTH) * WORTH * 0.5);
}

/* One disturbance, as of an SMI or of a host below, is paid for and forgotten: nothing else becomes of it. */
static void a_disturbance_is_forgotten(void **unused)
{
	(void)unused;
	test_seed();
	for (int round = 0; round < 100; round++) {
		uint64_t before, disturbed = SECONDS(1) + rnd(1000000000);
		struct world w;

		new_world(&w, 20, WORTH, 100);
		w.vcpus = 1;
		w.busy = 1;
		w.entry = 500;
		w.fault = 3000;
		live(&w, SECONDS(60));
		before = w.marked;
		live(&w, SECONDS(100));
		before = w.marked - before;
		assert_true(before > 1000);
		/* while there are marks, so that it is what they are said to cost */
		one_period(&w, SECONDS(1) / 10, disturbed, w.left);
		live(&w, disturbed / w.vcpus * 50 + SECONDS(2));	/* until it is paid */
		w.marked = 0;
		live(&w, SECONDS(10));
		assert_true(w.marked >= WORTH);
		live(&w, SECONDS(100));
		w.marked = 0;
		live(&w, SECONDS(100));
		assert_true(w.marked > before / 2);
	}
}

/* However long a guest has slept, it is sampled within some seconds of being busy; meanwhile it is hardly looked at. */
static void sleep_is_no_debt(void **unused)
{
	(void)unused;
	test_seed();
	for (int round = 0; round < 100; round++) {
		struct world w;

		new_world(&w, 20, 256, 10 + rnd(200));
		w.busy = 1;
		w.entry = 500;
		w.fault = 3000;
		w.flush = 10000;
		live(&w, SECONDS(20));
		w.busy = w.periods = 0;
		live(&w, SECONDS(86400));
		assert_true(w.periods < 86400 / 0.6);	/* nor is it looked at often */
		w.busy = 1;
		w.marked = 0;
		live(&w, SECONDS(10));
		assert_true(w.marked >= 64);
	}
}

/* Numbers at their limits overflow nothing: UBSan looks. */
static void limits(void **unused)
{
	struct sample_budget b;

	(void)unused;
	for (unsigned int share = 1; share <= 1000; share += 999)
		for (unsigned int entries = 1; entries <= 65536; entries += 65535)
			for (uint64_t ms = 10; ms <= 60000; ms += 59990) {
				sample_budget_init(&b, share, entries, MILLISECS(ms), 8192);
				for (int i = 0; i < 1000; i++)
					(void)sample_budget_begin(&b, MILLISECS(ms) * 8192, i % 2 ? MILLISECS(ms) * 8192 : 0, i % 3 ? 65536 : 0);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_more_than_allowed),
		cmocka_unit_test(is_not_starved),
		cmocka_unit_test(what_it_costs_is_learnt),
		cmocka_unit_test(a_small_one_saves),
		cmocka_unit_test(a_flush_is_shared),
		cmocka_unit_test(a_disturbance_is_forgotten),
		cmocka_unit_test(sleep_is_no_debt),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
