/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"
#include "page_reporting.h"

static struct page pages[NR_PAGES];
struct zone zones[NR_ZONES];
unsigned int nr_zones = NR_ZONES;
static int migratetype[NR_PAGES >> pageblock_order];

unsigned int xen_fails_percent, short_of_memory_percent;
unsigned long xen_calls, xen_events, most_isolated;
static unsigned long isolated;

/* Xen */

bool xen_wants, xen_is_short;
/* Those that begin while somebody waits for the work queue; one may have looked just before. */
static unsigned int calls_in_freezing;

void freeze(bool on)
{
	calls_in_freezing = 0;
	WRITE_ONCE(pm_nosig_freezing, on);
}

int HYPERVISOR_memory_op(unsigned int op, void *arg)
{
	const struct xen_page_events *e = arg;

	/* nobody waits for Xen, and nothing that another CPU could want is held */
	MUST(can_sleep() && op == XENMEM_page_events && !e->done && e->nr <= XENMEM_PAGE_EVENTS_MAX);
	cpu_switch();
	if (!xen_wants)
		return -EOPNOTSUPP;
	if (READ_ONCE(xen_is_short))
		return -ENOMEM;
	if (!e->nr)
		return 0;
	MUST(!READ_ONCE(pm_nosig_freezing) || !calls_in_freezing++);
	xen_calls++;
	xen_events += e->nr;
	if (rnd(100) < xen_fails_percent)
		return -EFAULT;
	for (unsigned int i = e->nr; i--; ) {
		unsigned long pfn = e->events[i] & (BIT_ULL(52) - 1);
		unsigned int order = e->events[i] >> 52 & 63;

		MUST(e->events[i] & XENMEM_PAGE_EVENT_RELEASED);
		MUST(order <= MAX_PAGE_ORDER && !(pfn & ((1UL << order) - 1)) && pfn + (1UL << order) <= NR_PAGES);
		MUST(order >= page_reporting_order);
		for (unsigned long p = pfn; p < pfn + (1UL << order); p++) {
			cpu_switch();
			MUST(!pages[p].owned && !pages[p].buddy);
			pages[p].content = 0;
			pages[p].mapped = false;
		}
	}
	return 0;
}

void xen_forgets(void)
{
	for (unsigned long p = 0; p < NR_PAGES; p++) {
		/* until now it knew of what was reported */
		for (unsigned long q = p; pages[p].reported && q < p + (1UL << pages[p].order); q++)
			MUST(!pages[q].mapped);
	}
	for (unsigned long p = 0; p < NR_PAGES; p++)
		pages[p].mapped = true;
}

static struct xenbus_watch *watched;
static unsigned int written;

int register_xenbus_watch(struct xenbus_watch *watch)
{
	watched = watch;
	return 0;
}

unsigned int xenbus_read_unsigned(const char *dir, const char *node, unsigned int otherwise)
{
	MUST(can_sleep());
	return READ_ONCE(written);
}

int register_xenstore_notifier(struct notifier_block *nb)
{
	return nb->notifier_call(nb, 0, NULL);
}

void toolstack_writes(unsigned int value)
{
	WRITE_ONCE(written, value);
	watched->callback(watched, watched->node, "");
}

/* The buddy allocator, under the zone's lock. */

unsigned long page_to_pfn(const struct page *page)
{
	return page - pages;
}

static struct zone *zone_of(const struct page *page)
{
	return &zones[page_to_pfn(page) / ZONE_PAGES];
}

static bool locked(const struct zone *zone)
{
	return zone->lock.holder == this_cpu + 1;
}

int get_pageblock_migratetype(const struct page *page)
{
	return migratetype[page_to_pfn(page) >> pageblock_order];
}

bool PageReported(struct page *page)
{
	MUST(locked(zone_of(page)));
	return page->reported;
}

void __SetPageReported(struct page *page)
{
	MUST(locked(zone_of(page)) && page->buddy);
	page->reported = true;
}

void __ClearPageReported(struct page *page)
{
	MUST(locked(zone_of(page)) && page->reported);
	page->reported = false;
}

static void add(struct page *page, unsigned int order, bool to_tail)
{
	struct zone *zone = zone_of(page);
	struct list_head *list = &zone->free_area[order].free_list[get_pageblock_migratetype(page)];

	MUST(locked(zone) && !page->buddy && !page->owned);
	page->buddy = true;
	page->order = order;
	if (to_tail)
		list_add_tail(&page->lru, list);
	else
		list_add(&page->lru, list);
	zone->free_area[order].nr_free++;
}

static void del(struct page *page)
{
	struct zone *zone = zone_of(page);

	MUST(locked(zone) && page->buddy);
	if (page_reported(page))
		__ClearPageReported(page);
	list_del(&page->lru);
	page->buddy = false;
	zone->free_area[page->order].nr_free--;
}

static void free_one(struct page *page, unsigned int order, bool reported)
{
	unsigned long pfn = page_to_pfn(page), buddy;

	for (; order < MAX_PAGE_ORDER; order++) {
		buddy = pfn ^ (1UL << order);
		if (!pages[buddy].buddy || pages[buddy].order != order ||
		    get_pageblock_migratetype(&pages[buddy]) != get_pageblock_migratetype(&pages[pfn]))
			break;
		del(&pages[buddy]);
		pfn = min(pfn, buddy);
	}
	add(&pages[pfn], order, reported || !rnd(4));
	if (!reported)
		page_reporting_notify_free(order);
}

int __isolate_free_page(struct page *page, unsigned int order)
{
	MUST(locked(zone_of(page)) && page->buddy && page->order == order && !page->reported);
	MUST(!is_migrate_isolate(get_pageblock_migratetype(page)));
	if (rnd(100) < short_of_memory_percent)
		return 0;
	del(page);
	isolated += 1UL << order;
	most_isolated = max(most_isolated, isolated);
	return 1 << order;
}

void __putback_isolated_page(struct page *page, unsigned int order, int mt)
{
	MUST(locked(zone_of(page)) && mt == get_pageblock_migratetype(page));
	isolated -= 1UL << order;
	free_one(page, order, true);
}

unsigned long low_wmark_pages(const struct zone *zone)
{
	return 0;
}

bool zone_watermark_ok(struct zone *zone, unsigned int order, unsigned long mark, int highest, int flags)
{
	return rnd(100) >= short_of_memory_percent;
}

void drain_all_pages(struct zone *zone)
{
	MUST(can_sleep());
}

static struct page *take(struct zone *zone, unsigned int order)
{
	for (unsigned int high = order; high <= MAX_PAGE_ORDER; high++)
		for (unsigned int mt = 0; mt < MIGRATE_ISOLATE; mt++) {
			struct list_head *list = &zone->free_area[high].free_list[mt];
			struct page *page;

			if (list_empty(list))
				continue;
			page = rnd(2) ? list_first_entry(list, struct page, lru) : list_last_entry(list, struct page, lru);
			del(page);
			while (high > order)
				high--, add(page + (1UL << high), high, false);
			return page;
		}
	return NULL;
}

static void use(struct page *page, unsigned int order)
{
	uint64_t pattern = (uint64_t)(rnd(1U << 30) + 1) << 8 | (this_cpu + 1);

	for (struct page *p = page; p < page + (1UL << order); p++) {
		MUST(!p->owned && !p->buddy);
		p->owned = p->content = pattern;
		p->mapped = true;
	}
}

static void unuse(struct page *page, unsigned int order)
{
	for (struct page *p = page; p < page + (1UL << order); p++) {
		MUST(p->owned && p->content == p->owned && p->mapped);
		p->owned = 0;
	}
}

bool guest_alloc(unsigned int zone, unsigned int order, unsigned long *pfn)
{
	struct zone *z = &zones[zone];
	struct page *page;
	bool flags;

	spin_lock_irqsave(&z->lock, flags);
	page = take(z, order);
	spin_unlock_irqrestore(&z->lock, flags);
	if (!page)
		return false;
	use(page, order);
	*pfn = page_to_pfn(page);
	return true;
}

void guest_free(unsigned long pfn, unsigned int order)
{
	struct zone *z = &zones[pfn / ZONE_PAGES];
	bool flags;

	unuse(&pages[pfn], order);
	spin_lock_irqsave(&z->lock, flags);
	free_one(&pages[pfn], order, false);
	spin_unlock_irqrestore(&z->lock, flags);
}

void guest_try(unsigned int zone)
{
	struct zone *z = &zones[zone];
	struct page *page;

	if (!spin_trylock(&z->lock))
		return;
	page = take(z, 0);
	if (page) {
		use(page, 0);
		cpu_switch();
		unuse(page, 0);
		free_one(page, 0, false);
	}
	spin_unlock(&z->lock);
}

static void move_to(struct zone *z, unsigned long block, int mt)
{
	bool flags;

	spin_lock_irqsave(&z->lock, flags);
	for (unsigned long p = block; p < block + BLOCK_PAGES; p += pages[p].buddy ? 1UL << pages[p].order : 1)
		if (pages[p].buddy && pages[p].order >= pageblock_order) {
			unsigned int order = pages[p].order;

			del(&pages[p]);
			/* in pageblocks, as split_large_buddy() does */
			for (unsigned long q = p; q < p + (1UL << order); q += 1UL << pageblock_order)
				migratetype[q >> pageblock_order] = mt;
			add(&pages[p], order, false);
		}
	spin_unlock_irqrestore(&z->lock, flags);
}

void guest_isolate(unsigned int zone)
{
	unsigned long block = zone * ZONE_PAGES + rnd(2) * BLOCK_PAGES;

	move_to(&zones[zone], block, MIGRATE_ISOLATE);
	for (unsigned int wait = rnd(100); wait; wait--)
		cpu_switch();
	move_to(&zones[zone], block, rnd(2) ? MIGRATE_MOVABLE : MIGRATE_UNMOVABLE);
}

void guest_check(bool told)
{
	MUST(!isolated);
	for (unsigned long p = 0; p < NR_PAGES; p++) {
		unsigned int order = pages[p].order;

		if (pages[p].owned || !pages[p].buddy) {
			MUST(pages[p].owned);
			continue;
		}
		for (unsigned long q = p; q < p + (1UL << order); q++) {
			MUST(!pages[q].owned);
			MUST(!told || order < page_reporting_order || !pages[q].mapped);
		}
		p += (1UL << order) - 1;
	}
}

void guest_init(void)
{
	memset(pages, 0, sizeof(pages));
	memset(zones, 0, sizeof(zones));
	isolated = xen_calls = xen_events = most_isolated = written = 0;
	for (unsigned int i = 0; i < NR_ZONES; i++)
		for (unsigned int order = 0; order <= MAX_PAGE_ORDER; order++)
			for (unsigned int mt = 0; mt < MIGRATE_TYPES; mt++) {
				struct list_head *list = &zones[i].free_area[order].free_list[mt];

				list->next = list->prev = list;
			}
	for (unsigned int i = 0; i < NR_PAGES >> pageblock_order; i++)
		migratetype[i] = i / (BLOCK_PAGES >> pageblock_order) % 2;
	for (unsigned long p = 0; p < NR_PAGES; p++)
		pages[p].mapped = true;
	for (unsigned long p = 0; p < NR_PAGES; p += BLOCK_PAGES) {
		struct zone *z = &zones[p / ZONE_PAGES];
		bool flags;

		spin_lock_irqsave(&z->lock, flags);
		add(&pages[p], MAX_PAGE_ORDER, false);
		spin_unlock_irqrestore(&z->lock, flags);
	}
}
