/* SPDX-License-Identifier: GPL-2.0-only */
/* Free lists that others take pages from, and add some to, whenever the lock is not held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "forget-reported.h"

#define PAGES 20000u
#define MOST  512u		/* that are looked at with the lock held */

unsigned int page_reporting_order;
unsigned int looked, written;
spinlock_t *held;
static struct zone zone;
static struct page pages[PAGES];
static unsigned int longest, others, types = MIGRATE_TYPES;

static void put(struct page *page, bool first)
{
	struct list_head *list = &zone.free_area[page->order].free_list[rand() % types];

	list_add(&page->buddy_list, first ? list : list->prev);
	zone.free_area[page->order].nr_free++;
}

/* What is allocated is not reported any more, and comes back as what was freed last. */
void cond_resched(void)
{
	assert_null(held);
	longest = looked > longest ? looked : longest;
	for (unsigned int i = 0; i < others; i++) {
		struct page *page = &pages[rand() % PAGES];

		list_del(&page->buddy_list);
		zone.free_area[page->order].nr_free--;
		page->reported = false;
		put(page, true);
	}
}

static void setup(unsigned int order)
{
	zone.lock = false;
	for (unsigned int i = 0; i <= MAX_PAGE_ORDER; i++) {
		zone.free_area[i].nr_free = 0;
		for (unsigned int mt = 0; mt < MIGRATE_TYPES; mt++) {
			struct list_head *list = &zone.free_area[i].free_list[mt];

			list->next = list->prev = list;
		}
	}
	for (unsigned int i = 0; i < PAGES; i++) {
		pages[i].order = order;
		pages[i].reported = rand() % 2;
		put(&pages[i], false);
	}
	longest = written = 0;
}

static unsigned int reported(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < PAGES; i++)
		nr += pages[i].reported;
	return nr;
}

static void all_is_forgotten(void **unused)
{
	(void)unused;
	for (unsigned int round = 0; round < 40; round++) {
		others = round % 4 * 100;
		types = round % MIGRATE_TYPES + 1;
		page_reporting_order = round % (MAX_PAGE_ORDER + 1);
		setup(page_reporting_order + rand() % (MAX_PAGE_ORDER + 1 - page_reporting_order));
		forget_reported(&zone);
		assert_int_equal(reported(), 0);
		assert_in_range(longest, 1, MOST);
	}
}

static void only_what_was_reported_is_written_to(void **unused)
{
	unsigned int nr;

	(void)unused;
	others = 0;
	page_reporting_order = 5;
	setup(5);
	nr = reported();
	forget_reported(&zone);
	assert_int_equal(written, nr);
}

static void what_is_too_small_is_not_looked_at(void **unused)
{
	(void)unused;
	others = 0;
	for (unsigned int order = 6; order != 12; order++) {
		page_reporting_order = order == 11 ? -1U : order;
		setup(5);
		looked = 0;
		forget_reported(&zone);
		assert_int_equal(looked + written, 0);
		assert_true(reported());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_forgotten),
		cmocka_unit_test(only_what_was_reported_is_written_to),
		cmocka_unit_test(what_is_too_small_is_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
