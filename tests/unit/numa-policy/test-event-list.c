/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches of page events against a model that writes down the newest event of each page. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "event-list.h"

#define SPACE (1UL << 20)	/* gfns of the model */
#define BLOCK 512UL		/* gfns of 2 MiB */

static struct page_event_list list;
static int8_t newest[SPACE];	/* 0: no event, 1: released, -1: allocated */
static int8_t said[SPACE];
static struct { uint64_t gfn; unsigned int pages; } call[2 * SPACE / BLOCK];	/* that returned something */
static unsigned int calls;

static uint64_t event(uint64_t gfn, unsigned int order, bool released)
{
	return gfn | (uint64_t)order << 52 | (uint64_t)released << 63;
}

static void sort(const uint64_t *events, unsigned int nr, uint64_t max_gfn, unsigned int invalid)
{
	for (unsigned int i = 0; i < nr; i++)
		list.event[i] = events[i];
	assert_int_equal(page_event_list_sort(&list, nr, max_gfn), invalid);
}

/* What is left after some calls, made or left out, is what there was after them before. */
static void leave_out(unsigned int made, unsigned int left_out)
{
	unsigned int pages;
	uint64_t gfn;

	for (unsigned int i = 0; i < made; i++)
		page_event_list_next(&list, &gfn, &pages);
	page_event_list_skip(&list, left_out);
	for (unsigned int i = made + left_out; i < calls; i++) {
		assert_true(page_event_list_next(&list, &gfn, &pages));
		assert_int_equal(gfn, call[i].gfn);
		assert_int_equal(pages, call[i].pages);
	}
	assert_false(page_event_list_next(&list, &gfn, &pages));
}

/* Runs the batch through the code, and compares; returns the number of ranges. */
static unsigned int compare(const uint64_t *events, unsigned int nr, uint64_t max_gfn)
{
	unsigned int invalid = 0, ranges = 0, pages;
	uint64_t gfn, last = 0;

	memset(newest, 0, sizeof(newest));
	memset(said, 0, sizeof(said));
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t first = events[i] & ((UINT64_C(1) << 52) - 1);
		unsigned int order = events[i] >> 52 & 63;

		bool split = events[i] >> 62 & 1;

		if ((events[i] >> 58 & 15) || (split && (order || events[i] >> 63)) || order > 18 || first > max_gfn || first % (1UL << order)) {
			invalid++;
			continue;
		}
		for (uint64_t g = first; g < first + (1UL << order) && g < SPACE; g++)
			newest[g] = events[i] >> 63 ? 1 : -1;
	}

	sort(events, nr, max_gfn, invalid);
	for (calls = 0; page_event_list_next(&list, &gfn, &pages); calls++) {
		assert_true(pages > 0 && gfn % BLOCK + pages <= BLOCK);
		/* neighbours are one, but for where 2 MiB begin */
		assert_true(!ranges || gfn > last || (gfn == last && gfn % BLOCK == 0));
		ranges += !ranges || gfn > last;
		last = gfn + pages;
		assert_true(calls < ARRAY_SIZE(call));
		call[calls].gfn = gfn;
		call[calls].pages = pages;
		for (uint64_t g = gfn; g < gfn + pages && g < SPACE; g++) {
			assert_int_equal(said[g], 0);
			said[g] = 1;
		}
	}
	for (uint64_t g = 0; g < SPACE; g++)
		if (said[g] != (newest[g] == 1))
			fail_msg("gfn %lx: %d, should be %d", (unsigned long)g, said[g], newest[g]);
	for (unsigned int made = 0; made < 3; made++) {
		sort(events, nr, max_gfn, invalid);
		leave_out(made, rnd(calls + 2));
	}
	return ranges;
}

static void the_newest_wins(void **unused)
{
	const uint64_t again[] = { event(5, 0, true), event(5, 0, false), event(6, 0, false), event(6, 0, true) };
	const uint64_t inside[] = { event(512, 9, true), event(700, 2, false), event(701, 0, true) };
	const uint64_t over[] = { event(701, 0, true), event(700, 2, false), event(512, 9, true) };
	const uint64_t under[] = { event(701, 0, true), event(512, 9, false) };

	(void)unused;
	assert_int_equal(compare(again, 4, SPACE - 1), 1);
	assert_int_equal(compare(inside, 3, SPACE - 1), 3);
	assert_int_equal(compare(over, 3, SPACE - 1), 1);
	assert_int_equal(compare(under, 2, SPACE - 1), 0);
	assert_int_equal(compare(NULL, 0, SPACE - 1), 0);
}

static void nonsense_is_left_out(void **unused)
{
	const uint64_t events[] = {
		event(4, 0, true) | UINT64_C(1) << 58, event(4, 0, true) | UINT64_C(1) << 62, event(0, 19, true),
		event(0, 63, true), event(1, 1, true), event(256, 9, true), event(SPACE, 0, true),
		event((UINT64_C(1) << 52) - 1, 0, true), event(UINT64_C(1) << 48, 0, true), event(8, 0, true),
	};

	(void)unused;
	assert_int_equal(compare(events, ARRAY_SIZE(events), SPACE - 1), 1);
	/* beyond what a key can hold, even if there were such pages */
	memcpy(list.event, &events[8], sizeof(*events));
	assert_int_equal(page_event_list_sort(&list, 1, ~UINT64_C(0)), 1);
}

static void all_ranges_around_one_page(void **unused)
{
	uint64_t events[38];

	(void)unused;
	for (int order = 18; order >= 0; order--)
		events[18 - order] = event(0, order, order % 2);
	compare(events, 19, SPACE - 1);
	for (int order = 0; order <= 18; order++)
		events[19 + order] = event(0, order, order % 2);
	compare(events, 38, SPACE - 1);
	/* ends that coincide */
	for (int order = 18; order >= 0; order--)
		events[18 - order] = event((1UL << 18) - (1UL << order), order, order % 2);
	compare(events, 19, SPACE - 1);
}

static void random_batches(void **unused)
{
	static uint64_t events[XEN_PAGE_EVENTS_MAX];

	(void)unused;
	test_seed();
	for (int batch = 0; batch < 60; batch++) {
		unsigned int nr = rnd(4) ? 1 + rnd(XEN_PAGE_EVENTS_MAX) : XEN_PAGE_EVENTS_MAX;
		unsigned int orders = 1 + rnd(rnd(2) ? 19 : 4);
		unsigned long space = 1UL << (4 + rnd(17));

		for (unsigned int i = 0; i < nr; i++) {
			unsigned int order = rnd(orders);

			events[i] = event(rnd(space) >> order << order, order, rnd(2));
			if (!rnd(50))
				events[i] ^= UINT64_C(1) << rnd(63);
		}
		compare(events, nr, SPACE - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_wins),
		cmocka_unit_test(nonsense_is_left_out),
		cmocka_unit_test(all_ranges_around_one_page),
		cmocka_unit_test(random_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
