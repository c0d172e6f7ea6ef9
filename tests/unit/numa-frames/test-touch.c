/* SPDX-License-Identifier: GPL-2.0-only */
/* First touches that go on without a lock: what others do meanwhile, and what becomes of the pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>
#include <asm/p2m-touch.h>

#define NOTHING 0xfe

static struct p2m_domain *p2m;
static unsigned int faulted_order;	/* of the entry that is touched */
static bool untouched;			/* still */
static struct page_info *mapped;	/* 4 KiB or 2 MiB, by whatever touch */
static unsigned int mapped_order, split, waits, looks;
static struct p2m_touch *other;

static struct page_info *touch(gfn_t gfn, unsigned int order)
{
	struct page_info *pg;

	pod_lock(p2m);
	pg = p2m_reserve_touch(p2m, gfn, order);
	pod_unlock(p2m);
	return pg;
}

/* p2m_pod_demand_populate(): with the p2m locked. */
static mfn_t look_up(struct p2m_domain *of, gfn_t gfn, p2m_type_t *t, p2m_access_t *a, int q, unsigned int *order, bool *sve)
{
	struct page_info *pg;

	assert_int_equal(machine_locks, 1);
	assert_true(looks++ < 10);
	if (!untouched)
		return _mfn(0);
	pg = touch(gfn, faulted_order);
	if (pg) {
		mapped = pg;
		mapped_order = faulted_order;
		untouched = false;
	} else if (!p2m_touch_goes_on(p2m_touch_current())) {
		assert_int_equal(faulted_order, PAGE_ORDER_2M);
		faulted_order = PAGE_ORDER_4K;
		split++;
		return look_up(of, gfn, t, a, q, order, sve);
	}
	return INVALID_MFN;
}

static bool populate_2m(gfn_t gfn, struct page_info *pg)
{
	if (!untouched || faulted_order != PAGE_ORDER_2M)
		return false;
	for (unsigned int i = 0; i < 512; i++) {
		assert_ptr_equal(pg[i].owner, &dom);
		assert_true(pg[i].count_info == (PGC_allocated | 1));
		assert_int_equal(pg[i].content, 0);
	}
	mapped = pg;
	mapped_order = PAGE_ORDER_2M;
	untouched = false;
	return true;
}

static int setup(void **unused)
{
	machine_reset();
	p2m = &dom.p2m;
	p2m->get_entry = look_up;
	machine_populate_2m = populate_2m;
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	faulted_order = PAGE_ORDER_2M;
	untouched = true;
	mapped = NULL;
	mapped_order = NOTHING;
	split = waits = looks = 0;
	return 0;
}

static int teardown(void **unused)
{
	machine_check();
	assert_int_equal(machine_locks, 0);
	p2m_reserve_free(p2m);
	return 0;
}

static void put_back(struct page_info *pg, unsigned int order)
{
	pod_lock(p2m);
	p2m_reserve_put(p2m, pg, order);
	pod_unlock(p2m);
}

static struct page_info *put(nodeid_t node, unsigned int order)
{
	struct page_info *pg = machine_give(node, order);

	put_back(pg, order);
	return pg;
}

/* The fault's first half. */
static bool begins(struct p2m_touch *t, nodeid_t wanted, unsigned long gfn)
{
	p2m_type_t type;
	p2m_access_t a;
	bool begun;

	machine_wanted = wanted;
	begun = p2m_touch_begin(p2m, t, _gfn(gfn));
	p2m_lock(p2m);
	look_up(p2m, _gfn(gfn), &type, &a, P2M_ALLOC, NULL, NULL);
	p2m_unlock(p2m);
	return p2m_touch_end(begun);
}

static void fault(nodeid_t wanted, unsigned long gfn)
{
	struct p2m_touch t;

	if (begins(&t, wanted, gfn))
		p2m_touch_finish(p2m, &t);
	machine_check();
}

static unsigned long in_reserve(void)
{
	uint64_t untouched_pages, exchanged, nodes[MAX_NUMNODES];
	unsigned long sum = 0;

	p2m_numa_untouched_stats(&dom, &untouched_pages, &exchanged, nodes);
	for (unsigned int i = 0; i < NODES; i++)
		sum += nodes[i];
	return sum;
}

static uint64_t exchanged(void)
{
	uint64_t untouched_pages, nr, nodes[MAX_NUMNODES];

	p2m_numa_untouched_stats(&dom, &untouched_pages, &nr, nodes);
	return nr;
}

static void is_mapped(unsigned int order, nodeid_t node)
{
	assert_int_equal(mapped_order, order);
	assert_int_equal(page_to_nid(mapped), node);
}

static void two_mib_are_cleared_without_a_lock(void **unused)
{
	put(1, 9);
	fault(1, 700);
	is_mapped(9, 1);
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(machine_placed, 512);
	assert_int_equal(in_reserve(), 0);
}

static void whoever_touches_them(void **unused)
{
	put(1, 9);
	fault(NUMA_NO_NODE, 0);
	is_mapped(9, 1);
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(machine_placed, 0);
}

static void and_exchanged(void **unused)
{
	put(1, 9);
	fault(2, 0);
	is_mapped(9, 2);
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(machine_free(1), NODE_PAGES);
	assert_int_equal(machine_owned(&dom), 512);
	assert_int_equal(exchanged(), 512);
	assert_int_equal(in_reserve(), 0);
}

static void for_512_pages_too(void **unused)
{
	for (unsigned int i = 0; i < 512; i++)
		put(1, 0);
	fault(2, 0);
	is_mapped(9, 2);
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(machine_free(1), NODE_PAGES);
	assert_int_equal(exchanged(), 512);
}

/* The colour that is wanted is not there: 2 MiB are got for one page. */
static void and_to_be_broken(void **unused)
{
	put(1, 9);
	faulted_order = 0;
	fault(2, 7);
	is_mapped(0, 2);
	assert_int_equal(mfn_x(page_to_mfn(mapped)) % 32, 7);
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(exchanged(), 512);
	assert_int_equal(in_reserve(), 511);
}

static void without_2_mib_on_the_node_it_is_single_pages(void **unused)
{
	struct page_info *pg = put(1, 9);

	machine_fragment(2);
	fault(2, 0);
	assert_int_equal(split, 1);
	is_mapped(0, 2);
	assert_int_equal(machine_owned(&dom), 512);
	assert_int_equal(in_reserve(), 511);
	assert_true(pg->owner == &dom || pg->is_free);
}

static void what_could_not_be_exchanged_stays_in_one_piece(void **unused)
{
	put(1, 9);
	put(1, 9);
	machine_fragment(2);
	machine_fill(2, NODE_PAGES / 64 + 512);
	fault(2, 0);
	split = 0;
	untouched = true;
	faulted_order = 9;
	mapped_order = NOTHING;
	fault(1, 512);
	is_mapped(9, 1);
	assert_int_equal(split, 0);
}

static void a_page_in_use_stays(void **unused)
{
	struct page_info *pg = machine_give(1, 9);

	pg[100].count_info++;
	put_back(pg, 9);
	fault(2, 0);
	assert_int_equal(split, 1);
	assert_ptr_equal(pg[100].owner, &dom);
	assert_true(pg[100].count_info == (PGC_allocated | 2));
	assert_int_equal(machine_owned(&dom), 512);
	assert_int_equal(in_reserve(), 511);
}

/* The 2 MiB that it is in are not tried again for the next touch. */
static void nor_is_it_met_again(void **unused)
{
	struct page_info *used = machine_give(1, 9), *other_one;

	used[100].count_info++;
	put_back(used, 9);
	other_one = put(1, 9);
	fault(2, 0);
	assert_int_equal(split, 1);
	untouched = true;
	faulted_order = 9;
	fault(1, 512);
	is_mapped(9, 1);
	assert_ptr_equal(mapped, other_one);
}

/* Memory may be less than what is populated on demand: too few pages for 2 MiB, and nothing is taken from the heap for them. */
static void what_has_nothing_to_give_takes_nothing(void **unused)
{
	for (unsigned int i = 0; i < 100; i++)
		put(1, 0);
	machine_wanted = 2;
	assert_null(touch(_gfn(0), 9));
	assert_int_equal(machine_locked_work, 0);
	assert_int_equal(in_reserve(), 100);
}

static void who_comes_first_has_it(void **unused)
{
	struct p2m_touch t;

	put(1, 9);
	put(1, 9);
	assert_true(begins(&t, 1, 0));
	/* somebody populates it otherwise */
	untouched = false;
	p2m_touch_finish(p2m, &t);
	assert_null(mapped);
	assert_int_equal(in_reserve(), 1024);
	assert_int_equal(machine_placed, 0);
}

static void nothing_is_mapped_where_nothing_waits(void **unused)
{
	struct p2m_touch t;

	put(1, 9);
	assert_true(begins(&t, 2, 0));
	/* it is divided, and one page is touched */
	faulted_order = 0;
	p2m_touch_finish(p2m, &t);
	assert_null(mapped);
	assert_int_equal(in_reserve(), 512);
	assert_int_equal(exchanged(), 512);
}

static void other_gets_ready(void)
{
	waits++;
	assert_false(other->is_ready);
	p2m_reserve_prepare(&dom, other);
}

/* The last pages of the reserve are on their way: who needs one waits until they are cleared. */
static void no_touch_fails_meanwhile(void **unused)
{
	struct p2m_touch t;
	struct page_info *pg;

	put(1, 9);
	assert_true(begins(&t, 2, 0));
	other = &t;
	machine_other_cpu = other_gets_ready;
	pg = touch(_gfn(5000), 0);
	assert_non_null(pg);
	assert_int_equal(waits, 1);
	assert_int_equal(page_to_nid(pg), 2);
	pod_lock(p2m);
	assert_false(p2m_reserve_return(p2m, &t));
	pod_unlock(p2m);
	assert_int_equal(in_reserve(), 511);
	assert_int_equal(exchanged(), 512);
}

static void nor_does_ballooning(void **unused)
{
	struct p2m_touch t;
	unsigned int nr = 0;

	put(1, 9);
	assert_true(begins(&t, 1, 0));
	other = &t;
	machine_other_cpu = other_gets_ready;
	pod_lock(p2m);
	while (p2m_reserve_take(p2m, 0))
		nr++;
	pod_unlock(p2m);
	assert_int_equal(nr, 512);
	assert_int_equal(waits, 1);
}

static void nor_taking_a_page_offline(void **unused)
{
	struct p2m_touch t;
	struct page_info *pg = put(1, 9);

	assert_true(begins(&t, 1, 0));
	other = &t;
	machine_other_cpu = other_gets_ready;
	pod_lock(p2m);
	assert_true(p2m_reserve_remove(p2m, pg + 17));
	pod_unlock(p2m);
	assert_int_equal(waits, 1);
	assert_int_equal(in_reserve(), 511);
}

static void they_are_counted(void **unused)
{
	struct p2m_touch t;

	put(1, 9);
	assert_true(begins(&t, 1, 0));
	other = &t;
	machine_other_cpu = other_gets_ready;
	assert_int_equal(in_reserve(), 512);
}

static void other_finishes(void)
{
	waits++;
	machine_cpu = 0;
	p2m_touch_finish(p2m, other);
	machine_cpu = 1;
}

/* Eight vCPUs at one page do not take eight times 2 MiB. */
static void who_is_late_waits(void **unused)
{
	struct p2m_touch first, second;

	put(1, 9);
	put(1, 9);
	assert_true(begins(&first, 1, 3));
	machine_cpu = 1;
	assert_true(begins(&second, 1, 4));
	assert_true(second.is_late && !second.is_out);
	other = &first;
	machine_other_cpu = other_finishes;
	p2m_touch_finish(p2m, &second);
	assert_int_equal(waits, 1);
	is_mapped(9, 1);
	assert_int_equal(in_reserve(), 512);
}

static void nor_do_they_exchange_eight_times(void **unused)
{
	struct p2m_touch first, second;

	put(1, 9);
	put(1, 9);
	faulted_order = 0;
	assert_true(begins(&first, 2, 3));
	machine_cpu = 1;
	assert_true(begins(&second, 2, 4));
	assert_true(second.is_late && !second.is_out);
	other = &first;
	machine_other_cpu = other_finishes;
	p2m_touch_finish(p2m, &second);
	assert_int_equal(waits, 1);
	assert_int_equal(exchanged(), 512);
}

/* dom0 is not to wait without a lock: it takes what is on its way. */
static void others_take_it(void **unused)
{
	struct p2m_touch t;

	put(1, 9);
	assert_true(begins(&t, 1, 0));
	other = &t;
	machine_other_cpu = other_gets_ready;
	assert_non_null(touch(_gfn(3), 9));
	assert_int_equal(waits, 1);
}

static void a_fault_that_only_maps_has_none(void **unused)
{
	put(1, 0);
	faulted_order = 0;
	fault(1, 0);
	is_mapped(0, 1);
	assert_null(p2m_touch_current());
}

/* dom0 sets first-touch, and is refused, as the domain is shared meanwhile: nothing waits. */
static void nor_has_one_whose_reserve_goes_away(void **unused)
{
	struct p2m_reserve *r = p2m->pod.reserve;
	struct p2m_touch t;
	bool begun = p2m_touch_begin(p2m, &t, _gfn(0));

	p2m->pod.reserve = NULL;
	assert_false(p2m_touch_end(begun));
	assert_null(p2m_touch_current());

	begun = p2m_touch_begin(p2m, &t, _gfn(0));
	p2m->pod.reserve = r;
	assert_false(p2m_touch_end(begun));
	assert_null(p2m_touch_current());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_mib_are_cleared_without_a_lock),
		TEST(whoever_touches_them),
		TEST(and_exchanged),
		TEST(for_512_pages_too),
		TEST(and_to_be_broken),
		TEST(without_2_mib_on_the_node_it_is_single_pages),
		TEST(what_could_not_be_exchanged_stays_in_one_piece),
		TEST(a_page_in_use_stays),
		TEST(nor_is_it_met_again),
		TEST(what_has_nothing_to_give_takes_nothing),
		TEST(who_comes_first_has_it),
		TEST(nothing_is_mapped_where_nothing_waits),
		TEST(no_touch_fails_meanwhile),
		TEST(nor_does_ballooning),
		TEST(nor_taking_a_page_offline),
		TEST(they_are_counted),
		TEST(who_is_late_waits),
		TEST(nor_do_they_exchange_eight_times),
		TEST(others_take_it),
		TEST(a_fault_that_only_maps_has_none),
		TEST(nor_has_one_whose_reserve_goes_away),
	};

	return cmocka_run_group_tests_name("touch", tests, NULL, NULL);
}
