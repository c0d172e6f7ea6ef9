/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that take memory of Xen's own, with each allocation failing in turn: sampling, moving, page events, and what tells of them.
 * Whatever fails, nothing has begun, nothing is left behind, and no lock is held.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include "sampling.h"
#include <xen/numa-policy.h>
#include <asm/ibs.h>

#define FRAMES 3U	/* of the ring */

static const unsigned long pages[] = { 600, 600 };
static struct domain dom;
static struct vcpu vcpu = { .domain = &dom }, *vcpus[] = { &vcpu, NULL };
static struct sample_hints *attached;
static struct ibs_ring *rings;
static bool cleared[2 * NODE_PAGES];	/* who maps frames finds what is left in them */
static unsigned int timers, tasklets, maps, reserved, released;
static bool moved;

/* Time and tasklets, that nobody waits for. */
s_time_t NOW(void) { return 0; }

void init_timer(struct timer *t, void (*fn)(void *), void *data, unsigned int cpu)
{
	assert_false(t->there);
	t->there = true;
	timers++;
}

void set_timer(struct timer *t, s_time_t expires)
{
	assert_true(t->there);
}

/* These two wait for what runs, which takes locks. */
void kill_timer(struct timer *t)
{
	assert_int_equal(test_locks_held, 0);
	assert_true(t->there);
	t->there = false;
	timers--;
}

void tasklet_init(struct tasklet *t, void (*fn)(void *), void *data)
{
	t->there = true;
	tasklets++;
}

void tasklet_schedule_on_cpu(struct tasklet *t, unsigned int cpu)
{
	abort();
}

void tasklet_kill(struct tasklet *t)
{
	assert_int_equal(test_locks_held, 0);
	assert_true(t->there);
	t->there = false;
	tasklets--;
}

void vcpu_runstate_get(const struct vcpu *v, struct vcpu_runstate_info *runstate)
{
	memset(runstate, 0, sizeof(*runstate));
}

/* Xen's windows. */
void *vmap(const mfn_t *mfn, unsigned int nr)
{
	void *va = test_zalloc(nr * PAGE_SIZE);

	for (unsigned int i = 0; i < nr; i++)
		assert_true(cleared[mfn_x(mfn[i])]);
	maps += va != NULL;
	return va;
}

void vunmap(const void *va)
{
	assert_non_null(va);
	maps--;
	oom_free((void *)va);
}

void clear_domain_page(mfn_t mfn)
{
	cleared[mfn_x(mfn)] = true;
}

void clear_page(void *va)
{
	memset(va, 0, PAGE_SIZE);
}

int xsm_domctl(int action, struct domain *d, struct xen_domctl *op) { return 0; }

/* Sources of samples. */
int p2m_hints_attach(struct domain *d, struct sample_hints *h)
{
	test_takes_p2m_lock();
	assert_null(attached);
	attached = h;
	return 0;
}

void p2m_hints_detach(struct domain *d)
{
	test_takes_p2m_lock();
	assert_non_null(attached);
	attached = NULL;
}

uint64_t p2m_hints_end(const struct domain *d) { return P2M_PAGES; }
void p2m_hints_lock(struct domain *d) { abort(); }
unsigned int p2m_hints_unlock(struct domain *d, bool set) { abort(); }
enum p2m_hint p2m_hint_set(struct domain *d, gfn_t gfn, unsigned int *order) { abort(); }
void p2m_hint_clear(struct domain *d, gfn_t gfn, unsigned int *order) { abort(); }
void p2m_numa_find(struct domain *d, struct p2m_numa_frame frames[], unsigned int nr) { abort(); }
nodeid_t mfn_to_nid(mfn_t mfn) { abort(); }

unsigned int ibs_op_caps;

int ibs_reserve(void)
{
	assert_int_equal(reserved++, 0);
	return 0;
}

void ibs_release(void)
{
	assert_int_equal(--reserved, 0);
}

void ibs_attach(struct domain *d, struct ibs_ring ring[])
{
	assert_null(rings);
	rings = ring;
}

void ibs_detach(struct domain *d)
{
	assert_non_null(rings);
	rings = NULL;
}

void ibs_resume(const struct vcpu *v) { abort(); }

/* The p2m: a page, which moves; and all that is released is there. */
int p2m_numa_may_move(const struct domain *d) { return 0; }
uint64_t p2m_numa_next(struct domain *d, uint64_t gfn)
{
	test_takes_p2m_lock();
	return gfn ? XEN_NUMA_USAGE_END : 0;
}

void p2m_numa_locate(struct domain *d, struct xen_numa_page page[], unsigned int nr)
{
	test_takes_p2m_lock();
	for (unsigned int i = 0; i < nr; i++)
		page[i].node = page[i].gfn || !moved ? 0 : 1;
}

void p2m_numa_usage(struct domain *d, uint64_t counts[], unsigned int nr_nodes)
{
	test_takes_p2m_lock();
	for (unsigned int i = 0; i < nr_nodes * XEN_NUMA_USAGE_SIZES; i++)
		counts[i] = !i;
}

struct p2m_numa_batch { int unused; };

struct p2m_numa_batch *p2m_numa_batch_new(struct domain *d)
{
	return oom_alloc(sizeof(struct p2m_numa_batch));
}

void p2m_numa_batch_limit(struct p2m_numa_batch *b, unsigned int us) { assert_non_null(b); }

void p2m_numa_batch_free(struct p2m_numa_batch *b)
{
	oom_free(b);
}

struct p2m_numa_cost p2m_numa_batch_cost(struct p2m_numa_batch *b) { return (struct p2m_numa_cost){ .batches = 1 }; }

int p2m_numa_move(struct p2m_numa_batch *b, struct xen_numa_move move[], unsigned int nr, bool renew,
		  unsigned int *done)
{
	test_takes_p2m_lock();
	assert_non_null(b);
	*done = nr;
	for (unsigned int i = 0; i < nr; i++)
		move[i].result = XEN_NUMA_MOVE_DONE;
	moved = true;
	return 0;
}

int p2m_numa_move_superpage(struct p2m_numa_batch *b, gfn_t gfn, nodeid_t node, unsigned int *result)
{
	test_takes_p2m_lock();
	assert_non_null(b);
	assert_true(!gfn.gfn && node < 2);
	*result = XEN_NUMA_MOVE_DONE;
	moved = true;
	return 0;
}

bool softirq_pending(unsigned int cpu) { return false; }
unsigned long domain_get_maximum_gpfn(struct domain *d) { return P2M_PAGES; }
void p2m_numa_split(struct domain *d, gfn_t gfn)
{
	test_takes_p2m_lock();
}
void p2m_numa_untouched_stats(struct domain *d, uint64_t *untouched, uint64_t *exchanged, uint64_t reserve[])
{
	test_takes_p2m_lock();
	reserve[0] = 7;
}

int p2m_numa_release_begin(struct p2m_numa_release *r, struct domain *d)
{
	test_takes_p2m_lock();
	*r = (struct p2m_numa_release){ .d = d };
	return 0;
}

bool p2m_numa_release(struct p2m_numa_release *r, gfn_t gfn, unsigned int nr)
{
	released += nr;
	return true;
}

void p2m_numa_release_end(struct p2m_numa_release *r) {}

/* The domain. */

static void begin(void)
{
	assert_int_equal(test_param("first-touch"), 0);
	dom = (struct domain){ .domain_id = 5, .hvm = true, .max_pages = 1U << 30, .vcpu = vcpus, .max_vcpus = ARRAY_SIZE(vcpus) };
	dom.node_affinity.bits[0] = 3;
	current = &vcpu;
	moved = false;
	released = 0;
	assert_int_equal(domain_numa_policy_init(&dom), 0);
}

static void check_nothing_is_left(void)
{
	assert_int_equal(test_locks_held, 0);
	assert_int_equal(machine_owned(), 0);
	assert_int_equal(avail_node_heap_pages(0), pages[0]);
	assert_int_equal(timers + tasklets + maps + reserved, 0);
	assert_null(attached);
	assert_null(rings);
}

static void end(void)
{
	domain_numa_policy_teardown(&dom);
	domain_numa_policy_destroy(&dom);
	check_nothing_is_left();
}

static int call(struct xen_domctl_numa_policy *op)
{
	bool copyback = false;
	int rc = domain_numa_policy_domctl(&dom, op, &copyback);

	assert_int_equal(test_locks_held, 0);
	assert_true(rc || copyback);
	return rc;
}

/* Sampling. */

static int sample(unsigned int action, unsigned int sources)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_SAMPLE };

	op.u.sample.action = action;
	if (action == XEN_NUMA_SAMPLE_START) {
		op.u.sample.sources = sources;
		op.u.sample.entries = 1000;
		op.u.sample.period_ms = XEN_NUMA_SAMPLE_MIN_PERIOD;
		op.u.sample.budget = 1;
		op.u.sample.frames = FRAMES;
	}
	return call(&op);
}

static int start_hints(void)
{
	return sample(XEN_NUMA_SAMPLE_START, 1U << XEN_NUMA_SAMPLE_HINT_FAULT);
}

static int start_ibs(void)
{
	return sample(XEN_NUMA_SAMPLE_START, 1U << XEN_NUMA_SAMPLE_IBS);
}

/* That it starts again tells that nobody believes it to be starting. */
static void check_started(int rc)
{
	assert_false(dom.numa_policy->samples.starting);
	assert_int_equal(dom.numa_policy->samples.run != NULL, !rc);
	assert_int_equal(numa_samples_max_frames(&dom), rc ? 0 : FRAMES);
	if (rc) {
		assert_int_equal(rc, -ENOMEM);
		check_nothing_is_left();
		return;
	}
	assert_int_equal(machine_owned(), FRAMES);
	assert_int_equal(domain_tot_pages(&dom), 0);
	assert_int_equal(timers, 1);
	assert_int_equal(!attached, !!rings);
}

/* Once more, by the ring that is there. */
static void begin_again(void)
{
	begin();
	assert_int_equal(start_hints(), 0);
	assert_int_equal(sample(XEN_NUMA_SAMPLE_STOP, 0), -ERESTART);
	dom.numa_policy->samples.run->ended = true;
	hint_fault_source.free(dom.numa_policy->samples.run);
	assert_int_equal(sample(XEN_NUMA_SAMPLE_STOP, 0), 0);
}

/* The ring stays what it was, for whoever has it mapped. */
static void check_started_again(int rc)
{
	assert_false(dom.numa_policy->samples.starting);
	assert_int_equal(dom.numa_policy->samples.run != NULL, !rc);
	assert_int_equal(numa_samples_max_frames(&dom), FRAMES);
	assert_int_equal(machine_owned(), FRAMES);
	assert_int_equal(timers, !rc);
	assert_int_equal(maps, 1);
}

static int get_samples(void)
{
	return sample(XEN_NUMA_SAMPLE_GET, 0);
}

static void check_nothing(int rc)
{
	assert_true(!rc || rc == -ENOMEM);
	check_nothing_is_left();
}

/* Moving. */

static int move(void)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_MOVE };
	struct xen_numa_move list = { .node = 1 };
	int rc;

	op.u.move.nr = 1;
	op.u.move.list.p = &list;
	rc = call(&op);
	assert_int_equal(op.u.move.done, !rc);
	return rc;
}

static int rebalance_by(uint32_t flags)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_REBALANCE };

	dom.node_affinity.bits[0] = 2;
	op.u.rebalance.nr = 1;
	op.u.rebalance.flags = flags;
	return call(&op);
}

static int rebalance(void)
{
	return rebalance_by(0);
}

static int compact(void)
{
	return rebalance_by(XEN_NUMA_REBALANCE_COMPACT);
}

static void check_moved(int rc)
{
	check_nothing(rc);
	assert_int_equal(moved, !rc);
	assert_int_equal(dom.numa_policy->moves.pages[XEN_NUMA_MOVE_DONE] > 0, !rc);
}

/* Page events. */

static int tell(void)
{
	uint64_t event = 5 | XEN_PAGE_EVENT_RELEASED;
	struct xen_page_events events = { .nr = 1 };
	XEN_GUEST_HANDLE_PARAM(xen_page_events_t) arg = { .p = &events };
	unsigned long progress = 0;
	int rc;

	events.events.p = &event;
	rc = numa_policy_page_events(arg, &progress);
	assert_int_equal(events.done, !rc);
	return rc;
}

static void check_told(int rc)
{
	check_nothing(rc);
	assert_int_equal(released, !rc);
	assert_int_equal(dom.numa_policy->releases.events, !rc);
}

static int get_touches(void)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_TOUCHES };
	uint64_t reserve[2] = {};
	int rc;

	op.u.touches.nr_nodes = 2;
	op.u.touches.reserve.p = reserve;
	rc = call(&op);
	assert_int_equal(reserve[0], rc ? 0 : 7);
	return rc;
}

static int get_usage(void)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_USAGE };
	uint64_t counts[2 * XEN_NUMA_USAGE_SIZES] = {};
	int rc;

	op.u.usage.nr_nodes = 2;
	op.u.usage.counts.p = counts;
	rc = call(&op);
	assert_int_equal(counts[0], !rc);
	assert_true(op.u.usage.gfn == (rc ? 0 : XEN_NUMA_USAGE_END));
	return rc;
}

static const struct oom_case cases[] = {
	{ "start hint faults", begin, start_hints, check_started, end, { [OOM_FRAMES] = FRAMES, [OOM_XEN] = 7 } },
	{ "start IBS", begin, start_ibs, check_started, end, { [OOM_FRAMES] = FRAMES, [OOM_XEN] = 8 } },
	{ "start again", begin_again, start_hints, check_started_again, end, { [OOM_XEN] = 5 } },
	{ "ask for samples", begin, get_samples, check_nothing, end, { [OOM_XEN] = 1 } },
	{ "move a list", begin, move, check_moved, end, { [OOM_XEN] = 2 } },
	{ "rebalance", begin, rebalance, check_moved, end, { [OOM_XEN] = 5 } },
	{ "compact", begin, compact, check_moved, end, { [OOM_XEN] = 5 } },
	{ "page events", begin, tell, check_told, end, { [OOM_XEN] = 1 } },
	{ "ask for touches", begin, get_touches, check_nothing, end, { [OOM_XEN] = 1 } },
	{ "ask where memory is", begin, get_usage, check_nothing, end, { [OOM_XEN] = 1 } },
};

/* What the caller's memory is not there for. */
static void who_gives_no_memory_is_refused(void **unused)
{
	struct xen_domctl_numa_policy op = { .op = XEN_DOMCTL_NUMA_POLICY_MOVE };

	(void)unused;
	begin();
	op.u.move.nr = 1;
	assert_int_equal(call(&op), -EFAULT);
	assert_int_equal(op.u.move.done, 0);
	assert_false(moved);

	op = (struct xen_domctl_numa_policy){ .op = XEN_DOMCTL_NUMA_POLICY_LOCATE };
	op.u.locate.nr = 1;
	assert_int_equal(call(&op), -EFAULT);
	assert_int_equal(op.u.locate.done, 0);

	op = (struct xen_domctl_numa_policy){ .op = XEN_DOMCTL_NUMA_POLICY_USAGE };
	op.u.usage.nr_nodes = 1;
	assert_int_equal(call(&op), -EFAULT);
	op.u.usage.gfn = 1;
	assert_int_equal(call(&op), -EINVAL);

	op = (struct xen_domctl_numa_policy){ .op = XEN_DOMCTL_NUMA_POLICY_TOUCHES };
	op.u.touches.nr_nodes = 1;
	assert_int_equal(call(&op), -EFAULT);
	end();
}

int main(void)
{
	const struct CMUnitTest others[] = { cmocka_unit_test(who_gives_no_memory_is_refused) };
	OOM_TESTS(cases, tests);

	machine_reset(ARRAY_SIZE(pages), pages);
	return cmocka_run_group_tests_name("oom-calls", tests, NULL, NULL) + cmocka_run_group_tests_name("callers", others, NULL, NULL);
}
