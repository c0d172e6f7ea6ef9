/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Free page reporting does not report a block again until it has been used.
 * Who asks for all free memory does not know of the earlier report, so forget
 * it.
 */
#ifndef FORGET_REPORTED_H
#define FORGET_REPORTED_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/page-flags.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

/* mm/page_reporting.c: no smaller block is reported; an invalid one at first */
extern unsigned int page_reporting_order;

/* Pages that are looked at in one go with zone->lock held. */
#define FORGET_AT_ONCE 512

/*
 * From the end, where free page reporting puts what it has reported.  What was
 * looked at comes to the front, as does most of what is freed meanwhile, so
 * that what is left is still at the end.
 */
static void forget_reported_list(struct zone *zone, unsigned int order,
				 unsigned int mt)
{
	struct list_head *list = &zone->free_area[order].free_list[mt];
	unsigned long left = READ_ONCE(zone->free_area[order].nr_free);
	unsigned long flags, n;
	struct page *page;

	do {
		n = 0;
		spin_lock_irqsave(&zone->lock, flags);
		list_for_each_entry_reverse(page, list, buddy_list) {
			if (PageReported(page))
				__ClearPageReported(page);
			if (++n == FORGET_AT_ONCE) {
				list_rotate_to_front(&page->buddy_list, list);
				break;
			}
		}
		spin_unlock_irqrestore(&zone->lock, flags);
		cond_resched();
		left -= min(left, n);
	} while (n == FORGET_AT_ONCE && left);
}

static void forget_reported(struct zone *zone)
{
	unsigned int order, mt;

	for (order = page_reporting_order; order <= MAX_PAGE_ORDER; order++)
		for (mt = 0; mt < MIGRATE_TYPES; mt++)
			forget_reported_list(zone, order, mt);
}

#endif
