/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches with room, and a worker in time: Xen is told all, and nothing else. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

static void every_free_page_is_told(void **unused)
{
	for (unsigned int i = 0; i < rounds(); i++) {
		const struct run r = { .ops = 300, .threshold = 8 };
		struct peq_stats s;

		start_round(i);
		s = interleave(&r);
		assert_int_equal(s.dropped, 0);
		assert_int_equal(s.discarded, 0);
		for (unsigned long p = 0; p < NR_PAGES; p++)
			assert_true(guest_is_free(p) && !xen_mapped(p));
	}
}

/* However little it is, Xen is told of it before long. */
static void a_single_block_is_told(void **unused)
{
	unsigned long pfn;

	start_round(0);
	guest_init();
	guest_arm(NR_PAGES + 1);
	assert_true(guest_alloc(0, MAX_PAGE_ORDER, LEAVE_BY_SPLIT, &pfn));
	guest_free(pfn, MAX_PAGE_ORDER, -1, &pfn);
	assert_true(xen_mapped(pfn));
	assert_true(guest_work());
	assert_false(xen_mapped(pfn));
}

/* An allocation of a page of which Xen knows takes no lock but the zone's. */
static void no_lock_without_release(void **unused)
{
	unsigned long pfn, again, before;

	start_round(0);
	guest_init();
	guest_arm(8);
	for (unsigned int order = 0; order <= MAX_PAGE_ORDER; order++) {
		assert_true(guest_alloc(0, order, LEAVE_BY_SPLIT, &pfn));
		guest_free(pfn, order, -1, &pfn);
		before = locks_taken;
		assert_true(guest_alloc(0, order, LEAVE_BY_SPLIT, &pfn));
		assert_true(locks_taken > before);
		guest_free(pfn, order, -1, &pfn);
		while (guest_work())
			;
		before = locks_taken;
		assert_true(guest_alloc(0, order, LEAVE_BY_SPLIT, &again));
		assert_int_equal(locks_taken, before + 1);
		guest_free(again, order, -1, &pfn);
		while (guest_work())
			;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_free_page_is_told),
		cmocka_unit_test(a_single_block_is_told),
		cmocka_unit_test(no_lock_without_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
