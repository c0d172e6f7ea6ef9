/* SPDX-License-Identifier: GPL-2.0-only */
/* XENMEM_page_events: each page that was released is unmapped once, in rounds, however often the call is preempted. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

#define MAX_GFN 0xffffUL

static struct domain dom;
static struct vcpu vcpu = { .domain = &dom };
static unsigned char released[MAX_GFN + 1];
static unsigned int rounds, pieces, room, softirq_percent, most;
static bool in_round, softirq;

bool softirq_pending(unsigned int cpu)
{
	assert_true(in_round);
	softirq = rnd(100) < softirq_percent;
	return softirq;
}

unsigned long domain_get_maximum_gpfn(struct domain *d)
{
	return MAX_GFN;
}

int p2m_numa_release_begin(struct p2m_numa_release *r, struct domain *d)
{
	test_takes_p2m_lock();
	assert_false(in_round);
	*r = (struct p2m_numa_release){ .d = d };
	in_round = true;
	softirq = false;
	room = 1 + rnd(most);
	rounds++;
	return 0;
}

bool p2m_numa_release(struct p2m_numa_release *r, gfn_t gfn, unsigned int nr)
{
	assert_true(in_round);
	assert_int_equal(gfn_x(gfn) / 512, (gfn_x(gfn) + nr - 1) / 512);
	/* There is something else to do on this CPU. */
	assert_false(softirq);
	if (!room)
		return false;
	room--;
	pieces++;
	for (unsigned int i = 0; i < nr; i++)
		released[gfn_x(gfn) + i]++;
	r->pages[P2M_NUMA_RELEASED] += nr;
	return true;
}

void p2m_numa_release_end(struct p2m_numa_release *r)
{
	assert_true(in_round);
	in_round = false;
}

void p2m_numa_split(struct domain *d, gfn_t gfn)
{
	test_takes_p2m_lock();
}
void p2m_numa_untouched_stats(struct domain *d, uint64_t *untouched, uint64_t *exchanged, uint64_t reserve[])
{
	test_takes_p2m_lock();
}

static int setup(void **unused)
{
	const unsigned long pages[] = { 8192 };

	machine_reset(1, pages);
	machine_may_be_untouched = 0;
	assert_int_equal(test_param("first-touch"), 0);
	dom = (struct domain){ .domain_id = 5, .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = 1;
	current = &vcpu;
	memset(released, 0, sizeof(released));
	rounds = pieces = softirq_percent = machine_preempt_percent = 0;
	most = 1024;
	return domain_numa_policy_init(&dom);
}

static int teardown(void **unused)
{
	domain_numa_policy_destroy(&dom);
	return 0;
}

static unsigned int tell(uint64_t event[], unsigned int nr)
{
	struct xen_page_events events = { .nr = nr };
	XEN_GUEST_HANDLE_PARAM(xen_page_events_t) arg = { .p = &events };
	unsigned long progress = 0, before;
	unsigned int calls = 0;
	int rc;

	events.events.p = event;
	do {
		before = progress;
		rc = numa_policy_page_events(arg, &progress);
		assert_false(in_round);
		assert_int_equal(test_locks_held, 0);
		/* Or it would go on for ever. */
		assert_true(!rc || progress > before);
		calls++;
	} while (rc == -ERESTART);
	assert_int_equal(rc, 0);
	assert_int_equal(events.done, nr);
	assert_int_equal(progress, pieces);
	return calls;
}

static void each_page_once(void **unused)
{
	static uint64_t event[XEN_PAGE_EVENTS_MAX];

	test_seed();
	for (unsigned int n = 0; n < 60; n++) {
		static bool wanted[MAX_GFN + 1];
		uint64_t sum = 0;

		teardown(NULL);
		setup(NULL);
		memset(wanted, 0, sizeof(wanted));
		for (unsigned int i = 0; i < XEN_PAGE_EVENTS_MAX; i++) {
			unsigned int order = rnd(8) ? 0 : rnd(12);
			unsigned long gfn = rnd(MAX_GFN + 1) >> order << order;
			bool release = rnd(4);

			event[i] = gfn | (uint64_t)order << XEN_PAGE_EVENT_ORDER_SHIFT | (release ? XEN_PAGE_EVENT_RELEASED : 0);
			for (unsigned long j = 0; j < 1UL << order; j++)
				wanted[gfn + j] = release;
		}
		most = 1 + rnd(rnd(2) ? 2000 : 5);
		softirq_percent = rnd(2) ? 0 : rnd(101);
		machine_preempt_percent = rnd(2) ? 0 : rnd(101);
		tell(event, XEN_PAGE_EVENTS_MAX);
		for (unsigned long gfn = 0; gfn <= MAX_GFN; gfn++) {
			assert_int_equal(released[gfn], wanted[gfn]);
			sum += wanted[gfn];
		}
		assert_int_equal(dom.numa_policy->releases.pages[P2M_NUMA_RELEASED], sum);
		assert_int_equal(dom.numa_policy->releases.rounds, rounds);
	}
}

static void what_is_waiting_comes_between_pieces(void **unused)
{
	uint64_t event[100];

	for (unsigned int i = 0; i < 100; i++)
		event[i] = i * 600 | XEN_PAGE_EVENT_RELEASED;
	softirq_percent = machine_preempt_percent = 100;
	assert_int_equal(tell(event, 100), 100);
	assert_int_equal(rounds, 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(each_page_once), TEST(what_is_waiting_comes_between_pieces) };

	return cmocka_run_group_tests_name("page-events", tests, NULL, NULL);
}
