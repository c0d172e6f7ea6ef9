/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux, as far as forget-reported.h needs it: one zone, whose lock tells how long it was held. */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#define MAX_PAGE_ORDER 10
#define MIGRATE_TYPES  6
#define READ_ONCE(x)   (*(volatile typeof(x) *)&(x))
#define min(a, b)      ((a) < (b) ? (a) : (b))

struct list_head { struct list_head *next, *prev; };

struct page {
	struct list_head buddy_list;
	unsigned int order;
	bool reported;
};

typedef bool spinlock_t;
struct zone {
	spinlock_t lock;
	struct { struct list_head free_list[MIGRATE_TYPES]; unsigned long nr_free; } free_area[MAX_PAGE_ORDER + 1];
};

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void __list_del_entry(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

/* What is on no list leads nowhere. */
static inline void list_del(struct list_head *entry)
{
	__list_del_entry(entry);
	entry->next = entry->prev = NULL;
}

/* @entry becomes the first one, and those before it the last. */
static inline void list_rotate_to_front(struct list_head *entry, struct list_head *head)
{
	__list_del_entry(head);
	head->next = entry;
	head->prev = entry->prev;
	entry->prev->next = head;
	entry->prev = head;
}

#define page_of(l) ((struct page *)((char *)(l) - offsetof(struct page, buddy_list)))
#define list_for_each_entry_reverse(page, head, member) \
	for (page = page_of((head)->prev); &page->buddy_list != (head); page = page_of(page->buddy_list.prev))
#define list_for_each_entry(page, head, member) \
	for (page = page_of((head)->next); &page->buddy_list != (head); page = page_of(page->buddy_list.next))

extern unsigned int looked, written;
extern spinlock_t *held;
void cond_resched(void);	/* the test's: what others do meanwhile */

#define spin_lock_irqsave(l, flags)      (assert(!*(l)), *(l) = true, held = (l), looked = 0, (void)((flags) = 1))
#define spin_unlock_irqrestore(l, flags) (assert(*(l) && (flags)), *(l) = false, held = NULL)

static inline bool PageReported(const struct page *page)
{
	assert(held);
	looked++;
	return page->reported;
}

static inline void __ClearPageReported(struct page *page)
{
	assert(held);
	written++;
	page->reported = false;
}

#endif
