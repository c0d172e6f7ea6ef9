/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hint faults on a p2m that is an array: which gfns are marked, which of them by others, and which are in a TLB.  Between any two pieces
 * of work the guest accesses pages, entries are divided, joined, unmapped and mapped, and others ask for recalculation.  At the end
 * nothing is marked but what others want.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <xen/numa-policy.h>
#include <asm/p2m-numa.h>

#include "machine.h"
#include "sample-regions.h"
#include "sampling.h"

#define BLOCK   512U
#define BLOCKS  8U
#define PAGES   (BLOCK * BLOCKS)
#define MOST    64U			/* looked at while the p2m is locked */

static struct {
	bool present, marked, others, tlb;
} page[PAGES];
static struct {
	bool large, pending;		/* one entry; its table, or it, is part of something larger that waits */
} block[BLOCKS];

static struct access_sampling s;
static struct domain d;
static struct vcpu vcpu = { .domain = &d };
static bool locked, busy_guest, watched, alone;
static s_time_t now, slow;		/* what an entry takes, too, at most */
static unsigned int samples, faults, marks, looked, holds;
static struct xen_numa_sample last;

/* What a flush takes, and CPUs that it interrupts; what of that is not accounted for yet. */
#define FLUSH 5
#define OTHERS 3U
static s_time_t owed;

s_time_t NOW(void)
{
	return now += rnd(20);
}

/* What a recalculation of the entry around the page does. */
static unsigned int resolve(unsigned int gfn)
{
	unsigned int b = gfn / BLOCK, first = block[b].large ? b * BLOCK : gfn, nr = block[b].large ? BLOCK : 1;

	if (block[b].pending)
		for (unsigned int i = b * BLOCK; i < (b + 1) * BLOCK; i++)
			page[i].marked = page[i].others = page[i].present;
	block[b].pending = false;
	for (unsigned int i = first; i < first + nr; i++)
		page[i].marked = page[i].others = false;
	return block[b].large ? 9 : 0;
}

static void access_page(unsigned int gfn)
{
	bool write = rnd(2), pending = block[gfn / BLOCK].pending;
	unsigned int before = samples, order;

	if (!page[gfn].present || page[gfn].tlb)
		return;
	if (page[gfn].marked || pending) {
		bool ours = page[gfn].marked && !page[gfn].others && !pending;

		struct sample_mark *m = numa_hint_find(s.hints, _gfn(gfn));

		assert_true(m || !ours);
		order = resolve(gfn);
		faults++;
		vcpu.vcpu_id = rnd(8);
		vcpu.processor = rnd(4);
		current = &vcpu;
		if (m)
			numa_hint_fault(s.hints, m, _gfn(gfn), order, rnd(4), write, now);
		if (ours)
			assert_int_equal(samples, before + 1);
		if (samples != before) {
			assert_int_equal(samples, before + 1);
			assert_int_equal(last.gfn, gfn & ~((1U << order) - 1));
			assert_int_equal(last.order, order);
			assert_int_equal(last.vcpu, vcpu.vcpu_id);
			assert_int_equal(last.node, vcpu.processor);
			assert_int_equal(last.flags, write);
			assert_int_equal(last.pad, 0);
		}
	}
	page[gfn].tlb = true;
}

static void flush(void)
{
	for (unsigned int i = 0; i < PAGES; i++)
		page[i].tlb = false;
}

/* A 2 MiB entry becomes a table, whose entries are what it was. */
static void divide(unsigned int b)
{
	block[b].large = false;
	flush();
}

static void meanwhile(void)
{
	unsigned int gfn = rnd(PAGES), b = gfn / BLOCK, i;

	if (alone)
		return;
	for (i = 0; i < (busy_guest ? 400u : 20u); i++)
		access_page(rnd(PAGES));
	switch (rnd(8)) {
	case 0:		/* one of its pages alone is watched: p2m_pt_set_recalc_range(), ept_invalidate_emt_range() */
		if (block[b].large && !block[b].pending) {
			divide(b);
			page[gfn].marked = page[gfn].others = true;
		}
		break;
	case 1:		/* p2m_set_entry() of one of its pages */
		resolve(gfn);
		divide(b);
		break;
	case 2:		/* the mover makes one of 512 */
		for (i = b * BLOCK; i < (b + 1) * BLOCK && page[i].present; i++)
			;
		if (i == (b + 1) * BLOCK) {
			for (i = b * BLOCK; i < (b + 1) * BLOCK; i++)
				page[i].marked = page[i].others = false;
			block[b].large = true;
			block[b].pending = false;
			flush();
		}
		break;
	case 3:		/* unmapped */
		resolve(gfn);
		if (block[b].large)
			divide(b);
		page[gfn].present = false;
		flush();
		break;
	case 4:
		page[gfn].present = true;
		break;
	case 5:		/* log-dirty mode, of all */
		if (!rnd(5)) {
			for (i = 0; i < BLOCKS; i++)
				block[i].pending = true;
			flush();
		}
		break;
	}
}

/* The p2m's side. */
int p2m_hints_attach(struct domain *dom, struct sample_hints *h)
{
	test_takes_p2m_lock();
	assert_ptr_equal(dom, &d);
	assert_non_null(h);
	return 0;
}

void p2m_hints_detach(struct domain *dom)
{
	test_takes_p2m_lock();
	(void)dom;
}

uint64_t p2m_hints_end(const struct domain *dom)
{
	(void)dom;
	return PAGES;
}

void p2m_hints_lock(struct domain *dom)
{
	test_takes_p2m_lock();
	(void)dom;
	assert(!locked);
	meanwhile();
	locked = true;
	looked = 0;
	holds++;
}

unsigned int p2m_hints_unlock(struct domain *dom, bool set)
{
	(void)dom;
	assert(locked);
	assert(looked <= MOST);		/* however long the lists are, and whatever there is in the p2m */
	if (set)
		flush();
	for (unsigned int i = 0; i < PAGES; i++)	/* or the next one to look would take it for flushed */
		assert(!page[i].marked || !page[i].tlb);
	now += FLUSH;
	owed += set ? OTHERS * FLUSH : 0;
	locked = false;
	meanwhile();
	return set ? OTHERS : 0;
}

enum p2m_hint p2m_hint_set(struct domain *dom, gfn_t gfn, unsigned int *order)
{
	unsigned int at = gfn_x(gfn), b = at / BLOCK;

	(void)dom;
	assert(locked && at < PAGES);
	looked++;
	now += slow ? rnd(slow) : 0;
	if (watched)
		return P2M_HINT_NONE;
	*order = block[b].pending ? 18 : block[b].large ? 9 : 0;
	if (!page[at].present)
		return P2M_HINT_NO_PAGE;
	if (page[at].marked || block[b].pending)
		return P2M_HINT_NOT_NOW;
	for (unsigned int i = 0; i < 1U << *order; i++)
		page[(at & ~((1U << *order) - 1)) + i].marked = true;
	marks++;
	return P2M_HINT_SET;
}

void p2m_hint_clear(struct domain *dom, gfn_t gfn, unsigned int *order)
{
	unsigned int at = gfn_x(gfn), b = at / BLOCK;

	(void)dom;
	assert(locked && at < PAGES);
	looked++;
	now += slow ? rnd(slow) : 0;
	*order = block[b].pending ? 9 : block[b].large ? 9 : 0;
	if (!block[b].pending && page[at].marked)
		resolve(at);
}

/* The core's. */
void numa_sampled(struct access_sampling *as, const struct xen_numa_sample *sample, uint64_t ns)
{
	(void)ns;
	assert_ptr_equal(as, &s);
	last = *sample;
	samples++;
}

void numa_sample_spent(struct access_sampling *as, uint64_t ns)
{
	assert_ptr_equal(as, &s);
	assert_true(owed ? ns >= (uint64_t)owed && !(ns % OTHERS) : !ns);
	owed = 0;
}

void numa_sample_marked(struct access_sampling *as, unsigned int nr, unsigned int entries, uint64_t ns)
{
	(void)ns;
	assert_ptr_equal(as, &s);
	assert(nr <= entries);
	assert_int_equal(owed, 0);	/* a flush costs other CPUs as much */
	assert_true(entries >= looked && entries <= MOST);
}

static void start(unsigned int entries)
{
	memset(page, 0, sizeof(page));
	memset(block, 0, sizeof(block));
	for (unsigned int i = 0; i < PAGES; i++)
		page[i].present = i < PAGES / 2 || rnd(2);
	for (unsigned int b = 0; b < BLOCKS / 2; b++)
		block[b].large = rnd(2);
	samples = faults = marks = 0;
	watched = alone = false;
	slow = 0;
	s = (struct access_sampling){ .d = &d, .budget = { .entries = entries } };
	assert_int_equal(hint_fault_source.start(&s), 0);
}

/* Returns in how many pieces. */
static unsigned int period(unsigned int entries)
{
	unsigned int pieces = 1, before = marks;

	hint_fault_source.period(&s, entries);
	while (hint_fault_source.work(&s, now + 100))
		assert_true(++pieces < 5000);
	assert_true(marks - before <= entries);
	return pieces;
}

static void nothing_is_left(void)
{
	period(0);
	for (unsigned int i = 0; i < PAGES; i++)
		if (page[i].marked && !page[i].others && !block[i / BLOCK].pending)
			fail_msg("gfn %x is marked yet", i);
	hint_fault_source.free(&s);
	assert_null(s.hints);
}

static void whatever_happens_meanwhile(void **unused)
{
	(void)unused;
	test_seed();
	for (int round = 0; round < 60; round++) {
		unsigned int entries = 1 + rnd(rnd(2) ? 2000 : 50);

		busy_guest = rnd(2);
		start(entries);
		slow = rnd(3) ? 0 : 40;
		for (unsigned int n = rnd(12); n; n--)
			period(rnd(4) ? entries : rnd(entries + 1));
		/* stopped half-way, too */
		hint_fault_source.period(&s, entries);
		for (unsigned int n = rnd(20); n && hint_fault_source.work(&s, now + 100); n--)
			;
		nothing_is_left();
		assert_true(samples <= faults);
	}
}

/* Nothing else happens: each mark is one sample or is taken back, and no fault is missed. */
static void accesses_are_samples(void **unused)
{
	(void)unused;
	test_seed();
	start(300);
	for (int i = 0; i < 30; i++) {
		busy_guest = true;
		assert_true(period(300) > 3);	/* bounded pieces */
	}
	assert_true(marks > 1000 && samples > 100);
	nothing_is_left();
}

/* 2 MiB that were marked as such, and divided: as many looks as pages, but not at a time.  A clock that has run out stops no progress. */
static void a_divided_mark(void **unused)
{
	unsigned int pieces = 1, at;

	(void)unused;
	test_seed();
	start(1);
	alone = true;
	for (unsigned int i = 0; i < PAGES; i++)
		page[i].present = true;
	for (unsigned int b = 0; b < BLOCKS; b++)
		block[b].large = true;
	period(1);
	assert_int_equal(marks, 1);
	for (unsigned int b = 0; b < BLOCKS; b++)
		divide(b);
	/* of which one is used alone */
	for (at = 0; !page[at].marked; at++)
		;
	access_page(at);
	assert_int_equal(samples, 1);
	assert_true(!page[at].marked && page[at + 1].marked);
	hint_fault_source.period(&s, 0);
	while (hint_fault_source.work(&s, 0))
		assert_true(++pieces <= BLOCK);
	assert_true(pieces >= BLOCK / MOST);
	nothing_is_left();
}

/* Under log-dirty mode one look tells that there is nothing to be marked, and what was marked is taken back. */
static void watched_by_others(void **unused)
{
	unsigned int before;

	(void)unused;
	test_seed();
	busy_guest = false;
	start(2000);
	for (int i = 0; i < 5; i++)
		period(2000);
	watched = true;
	period(2000);		/* takes back */
	before = holds;
	for (int i = 0; i < 10; i++)
		assert_int_equal(period(2000), 1);
	assert_int_equal(holds - before, 2 * 10);
	for (unsigned int i = 0; i < PAGES; i++)
		assert_true(!page[i].marked || page[i].others || block[i / BLOCK].pending);
	watched = false;
	before = marks;
	period(2000);
	assert_true(marks > before);
	nothing_is_left();
}

static unsigned int adapted;

void __real_sample_regions_adapt(struct sample_regions *rs, uint64_t end);
void __wrap_sample_regions_adapt(struct sample_regions *rs, uint64_t end);

void __wrap_sample_regions_adapt(struct sample_regions *rs, uint64_t end)
{
	adapted++;
	__real_sample_regions_adapt(rs, end);
}

/* Periods that the budget leaves empty do not make a guest look cold. */
static void nothing_gets_cold_unseen(void **unused)
{
	(void)unused;
	test_seed();
	busy_guest = true;
	start(300);
	adapted = 0;
	for (int i = 0; i < 20; i++)
		period(300);
	assert_int_equal(adapted, 19);
	for (int i = 0; i < 50; i++)
		period(0);
	assert_int_equal(adapted, 20);
	nothing_is_left();
}

static void out_of_memory(void **unused)
{
	(void)unused;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		oom_arm(OOM_XEN, nth, true);
		assert_int_equal(hint_fault_source.start(&s), -ENOMEM);
	}
	oom_disarm();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_meanwhile),
		cmocka_unit_test(accesses_are_samples),
		cmocka_unit_test(a_divided_mark),
		cmocka_unit_test(watched_by_others),
		cmocka_unit_test(nothing_gets_cold_unseen),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
