/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs allocate and free, in interrupts and NMIs, too; Xen is told, the toolstack changes its mind, blocks are unplugged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run.h"

#define WORKER	0	/* of free page reporting */
#define DRIVER	1	/* worker of the driver */
#define CONTROL	2
#define HELD	24

static struct { unsigned int ops; bool disturbed; } now;
static unsigned int at_work;

static void worker(struct workqueue_struct *wq)
{
	while (at_work || work_is_left()) {
		if (!rnd(4))
			run_work(wq);
		cpu_switch();
	}
}

static void control(void)
{
	/* from the next start on */
	*batch_param = 1 + rnd(100);
	toolstack_writes(0);
	for (unsigned int wait = rnd(600); wait; wait--)
		cpu_switch();
	toolstack_writes(1);
	for (unsigned int i = 0; now.disturbed && i < now.ops / 20; i++) {
		for (unsigned int wait = rnd(600); wait; wait--)
			cpu_switch();
		switch (rnd(6)) {
		case 0:
			WRITE_ONCE(xen_wants, !xen_wants);
			break;
		case 1:
			guest_isolate(rnd(NR_ZONES));
			break;
		case 2:
			freeze(!pm_nosig_freezing);
			break;
		default:
			toolstack_writes(rnd(4) > 0);
		}
	}
	/* from here on all is well, but that Xen may have no memory for a while */
	freeze(false);
	xen_fails_percent = short_of_memory_percent = kmalloc_fails_percent = 0;
	xen_forgets();
	WRITE_ONCE(xen_is_short, now.disturbed);
	WRITE_ONCE(xen_wants, true);
	toolstack_writes(1);
	for (unsigned int wait = rnd(600); wait; wait--)
		cpu_switch();
	WRITE_ONCE(xen_is_short, false);
}

static void user(void)
{
	struct { unsigned long pfn; unsigned int order; } held[HELD];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < now.ops || nr; i++) {
		unsigned int order = rnd(3) ? rnd(2) : rnd(MAX_PAGE_ORDER + 1), which;

		if (i < now.ops && nr < HELD && rnd(2)) {
			if (guest_alloc(rnd(NR_ZONES), order, &held[nr].pfn))
				held[nr++].order = order;
		} else if (nr) {
			which = rnd(nr);
			guest_free(held[which].pfn, held[which].order);
			held[which] = held[--nr];
		}
	}
}

static void cpu(unsigned int n)
{
	if (n == WORKER || n == DRIVER) {
		worker(n == WORKER ? system_freezable_wq : system_unbound_wq);
		return;
	}
	if (n == CONTROL)
		control();
	else
		user();
	at_work--;
}

static void in_interrupt(void)
{
	unsigned long pfn;

	/* not where one of these has been interrupted that may not be */
	if (!me->locks)
		run_kicks();
	if (at_work && guest_alloc(rnd(NR_ZONES), 0, &pfn))
		guest_free(pfn, 0);
}

static void in_nmi(void)
{
	if (at_work)
		guest_try(rnd(NR_ZONES));
}

static unsigned int rounds(void)
{
	const char *given = getenv("ROUNDS");

	return given ? atoi(given) : getenv("SEED") ? 1 : 60;
}

static void round_of(unsigned int n, unsigned int ops, bool disturbed)
{
	static uint64_t first;

	if (!first)
		first = test_seed();
	test_reseed(first + n);
	now.ops = ops;
	now.disturbed = disturbed;
	at_work = NR_CPUS - 2;
	interrupt = in_interrupt;
	nmi = in_nmi;
	xen_wants = true;
	xen_fails_percent = disturbed ? rnd(2) * 10 : 0;
	short_of_memory_percent = disturbed ? rnd(2) * 10 : 0;
	kmalloc_fails_percent = disturbed ? rnd(2) * 10 : 0;
	cpus_run(NR_CPUS, cpu);
	printf("SEED=%llu: %lu calls, %lu events\n", (unsigned long long)test_seed(), xen_calls, xen_events);
}

/* The driver is started once; what the toolstack wants goes on from round to round. */
static void start(void)
{
	static bool started;

	guest_init();
	*min_order_param = 1;
	if (!started)
		assert_int_equal(start_driver(), 0);
	started = true;
}

static void no_page_in_use_is_lost(void **unused)
{
	unsigned long calls = 0;

	start();
	for (unsigned int i = 0; i < rounds(); i++) {
		round_of(i, 300, true);
		guest_check(true);
		calls += xen_calls;
	}
	assert_true(calls > 0);
}

static void every_free_page_is_told(void **unused)
{
	start();
	for (unsigned int i = 0; i < rounds(); i++) {
		round_of(1000 + i, 200, false);
		guest_check(true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page_in_use_is_lost),
		cmocka_unit_test(every_free_page_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
