/* SPDX-License-Identifier: GPL-2.0-only */
/* The reserve: what becomes of frames that are exchanged with the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>

static struct p2m_domain *p2m;

static int setup(void **unused)
{
	machine_reset();
	p2m = &dom.p2m;
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	pod_lock(p2m);
	return 0;
}

static int teardown(void **unused)
{
	machine_check();
	pod_unlock(p2m);
	p2m_reserve_free(p2m);
	return 0;
}

static void put(nodeid_t node, unsigned int order)
{
	p2m_reserve_put(p2m, machine_give(node, order), order);
}

static nodeid_t touch(nodeid_t wanted, unsigned long gfn, unsigned int order)
{
	struct page_info *pg;

	machine_wanted = wanted;
	pg = p2m_reserve_touch(p2m, _gfn(gfn), order);
	machine_check();
	if (!pg)
		return NUMA_NO_NODE;
	for (unsigned int i = 0; i < 1U << order; i++) {
		assert_ptr_equal(pg[i].owner, &dom);
		assert_true(pg[i].count_info == (PGC_allocated | 1));
		assert_int_equal(pg[i].content, 0);
	}
	return page_to_nid(pg);
}

/* Somebody, who had mapped it as a foreign page, has it in a TLB still: that takes no type. */
static void what_goes_to_the_heap_is_flushed_for_the_next(void **unused)
{
	put(1, 9);
	assert_int_equal(touch(2, 0, 9), 2);
	assert_int_equal(machine_free(1), NODE_PAGES);
	put(1, 0);
	assert_int_equal(touch(3, 1, 0), 3);
	assert_int_equal(machine_owned(&dom), 512 + 1);
}

static void so_are_512_pages_for_2_mib(void **unused)
{
	for (unsigned int i = 0; i < 512; i++)
		put(1, 0);
	assert_int_equal(touch(2, 0, 9), 2);
	assert_int_equal(machine_free(1), NODE_PAGES);
	assert_int_equal(machine_owned(&dom), 512);
}

static void a_page_in_use_stays(void **unused)
{
	struct page_info *pg = machine_give(1, 9);

	pg[100].count_info++;
	p2m_reserve_put(p2m, pg, 9);
	machine_grain = 0;
	assert_int_equal(touch(2, 0, 9), NUMA_NO_NODE);
	for (unsigned int i = 0; i < 511; i++)
		touch(2, 101 + i, 0);
	assert_ptr_equal(pg[100].owner, &dom);
	assert_true(pg[100].count_info == (PGC_allocated | 2));
	assert_int_equal(machine_owned(&dom), 512);
}

/* put_page() would write back the caches for it. */
static void a_page_that_was_mapped_uncached_stays(void **unused)
{
	struct page_info *pg = machine_give(1, 0);

	pg->u.inuse.type_info = PGT_writable_page | PGT_non_coherent;
	pg->uncached = true;
	p2m_reserve_put(p2m, pg, 0);
	assert_int_equal(touch(2, 0, 0), 1);
	assert_int_equal(machine_owned(&dom), 1);
}

/* A domain that is gone has left its content on a node, which nobody has scrubbed yet. */
static void nobody_owns_what_somebody_else_has_left(void **unused)
{
	machine_leave_dirty(2);
	put(1, 9);
	put(1, 0);
	assert_int_equal(touch(2, 0, 9), 2);
	assert_int_equal(touch(2, 512, 0), 2);
}

/* Somebody has it taken offline, when nobody owns it yet. */
static void a_new_page_that_goes_offline_is_given_back(void **unused)
{
	struct page_info *pg;

	put(1, 9);
	machine_marks = true;
	assert_int_equal(touch(2, 0, 9), NUMA_NO_NODE);
	assert_int_equal(machine_owned(&dom), 512);
	assert_int_equal(machine_free(2), NODE_PAGES - 1);
	for (unsigned long i = 0; i < NODE_PAGES; i++) {
		pg = mfn_to_page(_mfn(2 * NODE_PAGES + i));
		assert_true(pg->is_free || pg->is_offline);
	}
}

/* One of its neighbours is in use, so it stays after all: what it was marked as, it is still. */
static void a_page_that_stays_keeps_its_mark(void **unused)
{
	struct page_info *pg = machine_give(1, 9);

	pg[100].count_info++;
	p2m_reserve_put(p2m, pg, 9);
	machine_offline = &pg[50].count_info;
	touch(2, 0, 9);
	assert_null(machine_offline);
	assert_true(pg[50].count_info == (PGC_allocated | PGC_state_offlining | 1));
}

static void what_devices_need_is_not_exchanged(void **unused)
{
	for (unsigned int i = 0; i < 8; i++)
		put(1, 9);
	machine_fragment(0);
	assert_int_equal(touch(0, 0, 9), NUMA_NO_NODE);
	assert_int_equal(machine_free_for_dma(), DMA_PAGES);
}

static void nor_the_last_of_a_node(void **unused)
{
	const unsigned long low = NODE_PAGES / 64;

	for (unsigned int i = 0; i < 8; i++)
		put(1, 9);
	machine_fill(0, DMA_PAGES + low + 512);
	assert_int_equal(touch(0, 0, 9), 0);
	assert_int_equal(machine_free_for_dma(), DMA_PAGES);
	/* the right node is full: the next one has it in one piece */
	assert_int_equal(touch(0, 512, 9), 1);
	assert_int_equal(touch(0, 1024, 0), 1);
	machine_fill(2, low + 1);
	assert_int_equal(touch(2, 1025, 0), 2);
	assert_int_equal(touch(2, 1026, 0), 1);
	assert_int_equal(machine_free(2), low);
	assert_int_equal(machine_free(0), DMA_PAGES + low);
	assert_int_equal(machine_owned(&dom), 8 * 512);
}

/* A domain is being built, and has claimed what is free: no node has anything, in whatever pieces. */
static void nor_what_is_claimed(void **unused)
{
	put(1, 9);
	put(1, 9);
	machine_claimed = NODES * NODE_PAGES - 1024 - 511;
	assert_int_equal(touch(2, 0, 9), 1);
	assert_int_equal(touch(2, 512, 0), 2);
	machine_claimed += 511;
	assert_int_equal(touch(3, 513, 0), 1);
	assert_int_equal(machine_owned(&dom), 1024);
}

static void who_comes_to_be_shared_meanwhile_has_none(void **unused)
{
	for (unsigned int look = 1; look < 3; look++) {
		machine_reset();
		machine_shared_at = look;
		assert_int_equal(p2m_numa_untouched_init(&dom, true), -EOPNOTSUPP);
		assert_false(p2m_numa_has_untouched(&dom));
	}
	machine_reset();
	machine_shared_at = 3;
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	assert_true(p2m_numa_has_untouched(&dom));
	p2m_reserve_free(&dom.p2m);
}

/* One for what is populated on demand is in nobody's way, once nothing waits; first-touch's always is. */
static void it_is_active_once_first_touch_was_asked_for(void **unused)
{
	machine_reset();
	assert_int_equal(p2m_numa_untouched_init(&dom, false), 0);
	assert_false(p2m_reserve_active(&dom.p2m));
	dom.p2m.pod.entry_count = 1;
	assert_true(p2m_reserve_active(&dom.p2m));
	dom.p2m.pod.entry_count = 0;
	dom.p2m.pod.count = 1;
	assert_true(p2m_reserve_active(&dom.p2m));
	dom.p2m.pod.count = 0;
	for (unsigned int look = 1; look < 3; look++) {
		machine_shared_at = look;
		assert_int_equal(p2m_numa_untouched_init(&dom, true), -EOPNOTSUPP);
		assert_false(p2m_reserve_active(&dom.p2m));
	}
	machine_shared_at = 0;
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	assert_true(p2m_reserve_active(&dom.p2m));
	assert_int_equal(p2m_numa_untouched_init(&dom, false), 0);
	assert_true(p2m_reserve_active(&dom.p2m));
	p2m_reserve_free(&dom.p2m);
}

/* dom0 may put it online again, for anybody; what is broken is not to be touched. */
static void a_page_that_goes_offline_shows_nothing(void **unused)
{
	struct page_info *pg = machine_give(1, 9);

	p2m_reserve_put(p2m, pg, 9);
	assert_int_not_equal(pg[17].content, 0);
	assert_int_not_equal(pg[18].content, 0);
	pg[17].count_info |= PGC_state_offlining;
	assert_true(p2m_reserve_remove(p2m, pg + 17));
	assert_int_equal(pg[17].content, 0);
	pg[18].count_info |= PGC_state_offlining | PGC_broken;
	assert_true(p2m_reserve_remove(p2m, pg + 18));
	assert_int_not_equal(pg[18].content, 0);
	assert_int_not_equal(pg[19].content, 0);
	assert_false(p2m_reserve_remove(p2m, pg + 18));
}

static void it_is_known_who_was_made_for_altp2m(void **unused)
{
	machine_reset();
	dom.arch.hvm.params[HVM_PARAM_ALTP2M] = XEN_ALTP2M_disabled;
	assert_false(p2m_numa_may_use_altp2m(&dom));
	dom.arch.hvm.params[HVM_PARAM_ALTP2M] = XEN_ALTP2M_mixed;
	assert_true(p2m_numa_may_use_altp2m(&dom));
	dom.arch.hvm.params[HVM_PARAM_ALTP2M] = XEN_ALTP2M_disabled;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_goes_to_the_heap_is_flushed_for_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(so_are_512_pages_for_2_mib, setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_in_use_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_that_was_mapped_uncached_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_owns_what_somebody_else_has_left, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_page_that_goes_offline_is_given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_that_stays_keeps_its_mark, setup, teardown),
		cmocka_unit_test_setup_teardown(what_devices_need_is_not_exchanged, setup, teardown),
		cmocka_unit_test_setup_teardown(nor_the_last_of_a_node, setup, teardown),
		cmocka_unit_test_setup_teardown(nor_what_is_claimed, setup, teardown),
		cmocka_unit_test(who_comes_to_be_shared_meanwhile_has_none),
		cmocka_unit_test(it_is_active_once_first_touch_was_asked_for),
		cmocka_unit_test_setup_teardown(a_page_that_goes_offline_shows_nothing, setup, teardown),
		cmocka_unit_test(it_is_known_who_was_made_for_altp2m),
	};

	return cmocka_run_group_tests_name("reserve", tests, NULL, NULL);
}
