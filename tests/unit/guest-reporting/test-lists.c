/* SPDX-License-Identifier: GPL-2.0-only */
/* One long free list, which others change whenever the lock is not held: what a pass reports, and how long it holds the lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run.h"
#include <linux/page_reporting.h>
#include "page_reporting.h"

#define PAGES	 20000u
#define ORDER	 5
#define CAPACITY 128
#define MOST	 (512u + CAPACITY)	/* blocks looked at with the lock held */

struct zone zones[1];
unsigned int nr_zones = 1;
static struct page pages[PAGES];
static bool changed[PAGES], isolated[PAGES];
static unsigned int told[PAGES];	/* how often */
static unsigned int longest, total, others, nr_isolated, most_in_report, reports, fails;
static struct list_head *const list = &zones[0].free_area[ORDER].free_list[MIGRATE_MOVABLE];

static void looked(void)
{
	static unsigned long since;
	static unsigned int nr;

	MUST(me->locks == 1 && me->irqs_off);
	if (since != locks_taken) {
		since = locks_taken;
		nr = 0;
	}
	total++;
	longest = max(longest, ++nr);
}

bool PageReported(struct page *page)
{
	looked();
	return page->reported;
}

void __SetPageReported(struct page *page)
{
	page->reported = true;
}

void __ClearPageReported(struct page *page)
{
	MUST(page->reported);
	page->reported = false;
}

int get_pageblock_migratetype(const struct page *page)
{
	return MIGRATE_MOVABLE;
}

unsigned long low_wmark_pages(const struct zone *zone)
{
	return 0;
}

bool zone_watermark_ok(struct zone *zone, unsigned int order, unsigned long mark, int highest, int flags)
{
	return true;
}

void drain_all_pages(struct zone *zone)
{
}

static void put(struct page *page, bool first)
{
	if (first)
		list_add(&page->lru, list);
	else
		list_add_tail(&page->lru, list);
	page->buddy = true;
	page->order = ORDER;
	zones[0].free_area[ORDER].nr_free++;
}

static void take(struct page *page)
{
	MUST(page->buddy);
	list_del(&page->lru);
	page->buddy = page->reported = false;
	zones[0].free_area[ORDER].nr_free--;
}

int __isolate_free_page(struct page *page, unsigned int order)
{
	MUST(order == ORDER && !page->reported);
	take(page);
	isolated[page - pages] = true;
	nr_isolated++;
	return 1 << order;
}

void __putback_isolated_page(struct page *page, unsigned int order, int mt)
{
	MUST(order == ORDER && isolated[page - pages]);
	isolated[page - pages] = false;
	nr_isolated--;
	put(page, false);
}

/* What is allocated is not reported any more, and comes back as what was freed last. */
static void others_work(void)
{
	for (unsigned int i = 0; i < others; i++) {
		unsigned int n = rnd(PAGES);

		if (isolated[n])
			continue;
		take(&pages[n]);
		put(&pages[n], true);
		changed[n] = true;
	}
}

static int report(struct page_reporting_dev_info *dev, struct scatterlist *sg, unsigned int nents)
{
	MUST(can_sleep() && nents && nents <= dev->capacity && nents == nr_isolated);
	most_in_report = max(most_in_report, nr_isolated);
	reports++;
	for (; sg; sg = sg_next(sg), nents--) {
		MUST(sg->length == PAGE_SIZE << ORDER && isolated[sg_page(sg) - pages]);
		told[sg_page(sg) - pages]++;
	}
	MUST(!nents);
	others_work();
	return rnd(100) < fails ? -EFAULT : 0;
}

static struct page_reporting_dev_info device;

static void setup(unsigned int reported_percent)
{
	memset(zones, 0, sizeof(zones));
	memset(pages, 0, sizeof(pages));
	memset(changed, 0, sizeof(changed));
	memset(told, 0, sizeof(told));
	for (unsigned int order = 0; order <= MAX_PAGE_ORDER; order++)
		for (unsigned int mt = 0; mt < MIGRATE_TYPES; mt++) {
			struct list_head *l = &zones[0].free_area[order].free_list[mt];

			l->next = l->prev = l;
		}
	for (unsigned int i = 0; i < PAGES; i++) {
		put(&pages[i], rnd(2));
		pages[i].reported = rnd(100) < reported_percent;
	}
	steps = 0;
	longest = total = others = most_in_report = reports = fails = 0;
	device = (struct page_reporting_dev_info){ .report = report, .capacity = CAPACITY, .passes = 1, .delay = 10, .order = ORDER };
}

/* One pass, and the delay with which the next one would come. */
static void pass(void)
{
	MUST(!page_reporting_register(&device));
	me->irqs_off = true;
	while (run_kicks())
		;
	me->irqs_off = false;
	total = longest = 0;
	MUST(run_work(system_freezable_wq));
	atomic_set(&device.state, 0);
	page_reporting_notify_free(ORDER);
	me->irqs_off = true;
	MUST(run_kicks());
	me->irqs_off = false;
	page_reporting_unregister(&device);
	MUST(!nr_isolated);
}

static void all_of_a_list_is_reported(void **unused)
{
	for (unsigned int i = 0; i < 24; i++) {
		setup(i % 4 * 30);
		others = i % 3 * 20;
		/* what others free while a pass runs takes a part of its budget: one that goes on is to come to the end of the list */
		for (unsigned int again = 0; again < 3; again++)
			pass();
		assert_in_range(longest, 1, MOST);
		for (unsigned int p = 0; p < PAGES; p++)
			assert_true(changed[p] || pages[p].reported);
	}
}

static void what_was_reported_is_skipped_once(void **unused)
{
	setup(100);
	pass();
	assert_int_equal(reports, 0);
	assert_in_range(total, PAGES, PAGES + MOST);
	/* 2 us for each */
	assert_int_equal(last_delay, 10 + usecs_to_jiffies(2 * total));
}

static void a_report_is_bounded(void **unused)
{
	setup(0);
	pass();
	assert_int_equal(most_in_report, CAPACITY);
	setup(0);
	device.pages = 1000;
	pass();
	assert_int_equal(most_in_report, 1000 / (1 << ORDER) + 1);
	assert_int_equal(pages[0].reported, true);
	setup(0);
	device.pages = 1;
	pass();
	assert_int_equal(most_in_report, 1);
}

/* A kernel that is not preempted takes 20 s without it for a lockup. */
static void a_pass_lets_others_run(void **unused)
{
	setup(0);
	rescheds = 0;
	pass();
	assert_in_range(rescheds, reports, UINT32_MAX);
}

static void defaults_are_as_before(void **unused)
{
	setup(0);
	device = (struct page_reporting_dev_info){ .report = report, .order = ORDER };
	pass();
	assert_int_equal(most_in_report, 32);
	/* a sixteenth, and one that may have been begun before; a report is due before the budget is looked at */
	assert_in_range(reports, PAGES / 32 / 16, PAGES / 32 / 16 + 3);
	assert_int_equal(last_delay, 2 * HZ + usecs_to_jiffies(2 * device.skipped));
}

static void an_error_leaves_all_as_it_was(void **unused)
{
	unsigned int reported = 0;

	setup(0);
	fails = 100;
	pass();
	for (unsigned int p = 0; p < PAGES; p++) {
		assert_true(pages[p].buddy);
		reported += pages[p].reported;
	}
	assert_int_equal(reported, 0);
	assert_int_equal(reports, 1);
}

static bool done;

static void ask_for_all(unsigned int cpu)
{
	if (!cpu) {
		MUST(page_reporting_all(&device) == -ENODEV);
		MUST(!page_reporting_register(&device));
		MUST(!page_reporting_all(&device));
		fails = 100;
		MUST(page_reporting_all(&device) == -EFAULT);
		page_reporting_unregister(&device);
		done = true;
	}
	while (!done) {
		run_work(system_freezable_wq);
		cpu_switch();
	}
}

static void kick(void)
{
	run_kicks();
}

static void all_is_reported_anew(void **unused)
{
	setup(70);
	done = false;
	interrupt = kick;
	cpus_run(2, ask_for_all);
	interrupt = NULL;
	for (unsigned int p = 0; p < PAGES; p++)
		assert_true(told[p]);
	assert_in_range(longest, 1, MOST);
}

static void register_and_unregister(unsigned int cpu)
{
	for (unsigned int i = 0; !cpu && i < 50; i++) {
		MUST(!page_reporting_register(&device));
		for (unsigned int wait = rnd(200); wait; wait--)
			cpu_switch();
		page_reporting_unregister(&device);
		MUST(!work_is_left() && !nr_isolated);
	}
	done |= !cpu;
	while (!done) {
		run_work(system_freezable_wq);
		cpu_switch();
	}
}

static void nothing_is_reported_after_the_end(void **unused)
{
	setup(0);
	done = false;
	interrupt = kick;
	cpus_run(2, register_and_unregister);
	interrupt = NULL;
	assert_true(reports > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_list_is_reported),
		cmocka_unit_test(what_was_reported_is_skipped_once),
		cmocka_unit_test(a_report_is_bounded),
		cmocka_unit_test(a_pass_lets_others_run),
		cmocka_unit_test(defaults_are_as_before),
		cmocka_unit_test(an_error_leaves_all_as_it_was),
		cmocka_unit_test(all_is_reported_anew),
		cmocka_unit_test(nothing_is_reported_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
