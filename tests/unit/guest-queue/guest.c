/* SPDX-License-Identifier: GPL-2.0-only */
#include "guest.h"

#ifndef WITHOUT_OVER
#define OVER PEQ_MARK_OVER
#else
#define OVER 0
#endif

static struct page {
	bool buddy;
	unsigned int order;
	unsigned long index;	/* the mark */
	/* what is in the page, and what its owner put there; 0: no owner */
	uint64_t content, owned;
	bool mapped;
} pages[NR_PAGES];

static struct zone {
	spinlock_t lock;
} zones[NR_ZONES];

struct page_event_queue queue[NR_QUEUES];
static bool kick_now[NR_QUEUES], kick_soon[NR_QUEUES];
static bool key;
/* Since before anything was divided that is free now, all that is unmapped has a mark: when even Xen's large pages are told of. */
static bool all_marked;
static unsigned int min_order;

unsigned int xen_fails_percent;
unsigned long xen_calls, xen_events;

/* Xen */

bool xen_mapped(unsigned long pfn)
{
	return pages[pfn].mapped;
}

bool guest_is_free(unsigned long pfn)
{
	return !pages[pfn].owned;
}

static void map(unsigned long pfn, bool mapped)
{
	cpu_switch();
	__atomic_store_n(&pages[pfn].mapped, mapped, __ATOMIC_RELAXED);
}

static int tell(struct page_event_queue *q, u64 *events, unsigned int nr)
{
	bool seen[NR_PAGES] = { false };

	MUST(irqs_off && nr && nr <= PEQ_EVENTS);
	__atomic_add_fetch(&xen_calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&xen_events, nr, __ATOMIC_RELAXED);
	if (rnd(100) < xen_fails_percent)
		return -EFAULT;

	while (nr--) {
		unsigned long pfn = events[nr] & (BIT(52) - 1);
		unsigned int order = events[nr] >> 52 & 63;

		MUST(order <= MAX_PAGE_ORDER && !(pfn & (BIT(order) - 1)) &&
		     pfn + BIT(order) <= NR_PAGES);
		for (unsigned long p = pfn; p < pfn + BIT(order); p++) {
			if (seen[p])
				continue;
			seen[p] = true;
			if (!(events[nr] & XENMEM_PAGE_EVENT_RELEASED))
				continue;
			cpu_switch();
			MUST(!pages[p].owned);
			pages[p].content = 0;
			map(p, false);
		}
	}
	return 0;
}

/* XENMEM_PAGE_EVENT_SPLIT: this page is mapped, alone */
static void divide(unsigned long pfn)
{
#ifndef WITHOUT_HINT
	map(pfn, true);
#endif
}

/* Whether the touch of any page here makes Xen map all of it. */
static bool maps_large(unsigned long pfn)
{
	unsigned long first = pfn & ~(BIT(LARGE_ORDER) - 1);

	for (unsigned long p = first; p < first + BIT(LARGE_ORDER); p++)
		if (__atomic_load_n(&pages[p].mapped, __ATOMIC_RELAXED))
			return false;
	return true;
}

static void kick(struct page_event_queue *q, bool now)
{
	bool *flag = &(now ? kick_now : kick_soon)[q - queue];

	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static const struct peq_ops ops = { .tell = tell, .kick = kick };

/* As drivers/xen/numa-policy-pages.c has it. */

static struct page_event_queue *queue_of(unsigned long pfn)
{
#ifdef PARTITION_BY_LOWEST_BITS
	return &queue[pfn % NR_QUEUES];
#else
	return &queue[(pfn >> MAX_PAGE_ORDER) % NR_QUEUES];
#endif
}

static bool armed(void)
{
	/* code that is patched is a barrier for every CPU */
	return __atomic_load_n(&key, __ATOMIC_ACQUIRE);
}

static void release(unsigned long pfn, unsigned int order)
{
	pages[pfn].index = peq_mark_join(pages[pfn].index, peq_released(queue_of(pfn), pfn, order));
}

static void released(unsigned long pfn, unsigned int order)
{
	if (armed()) {
#ifndef WITHOUT_FORGETTING
		pages[pfn].index = 0;
#endif
		if (order >= min_order)
			release(pfn, order);
	}
}

static void grown(unsigned long pfn, unsigned int order)
{
	if (armed() && order == min_order)
		release(pfn, order);
}

/* All of a pending block is taken back, and the rest of it released again. */
static void allocated(unsigned long pfn, unsigned int low, unsigned int high)
{
	bool divided = low < LARGE_ORDER && high >= LARGE_ORDER, pending;

	if (!armed() || !pages[pfn].index)
		return;
#ifdef HINT_TOO_EARLY
	if (divided)
		divide(pfn);
	divided = false;
#endif
	pending = peq_allocated(queue_of(pfn), pfn, high, pages[pfn].index);
	if (divided)
		divide(pfn);
	if (!pending)
		return;
	pages[pfn].index = OVER;
	for (; low < high; low++) {
		pages[pfn + BIT(low)].index = low < min_order ? 0 : OVER;
		if (low >= min_order)
			release(pfn + BIT(low), low);
	}
}

static void merged(unsigned long pfn, unsigned long buddy)
{
#ifndef WITHOUT_MERGED
	if (armed()) {
		pages[pfn].index = peq_mark_join(pages[pfn].index, pages[buddy].index);
		pages[buddy].index = pages[pfn].index;
	}
#endif
}

static void split(unsigned long pfn, unsigned long half)
{
#ifndef WITHOUT_SPLIT
	if (armed())
		pages[half].index = pages[pfn].index;
#endif
}

bool guest_work(void)
{
	bool worked = false;

	for (unsigned int i = 0; i < NR_QUEUES; i++) {
		bool now = __atomic_exchange_n(&kick_now[i], false, __ATOMIC_RELAXED);
		bool soon = __atomic_exchange_n(&kick_soon[i], false, __ATOMIC_RELAXED);

		if (!now && !soon)
			continue;
		worked = true;
		do
			peq_flush(&queue[i]);
		while (peq_due(&queue[i]));
		if (!peq_empty(&queue[i]))
			kick(&queue[i], false);
	}
	return worked;
}

static void walk(void (*fn)(unsigned long pfn, unsigned int order))
{
	unsigned long flags, pfn, block;

	for (block = 0; block < NR_PAGES; block += BLOCK_PAGES) {
		struct zone *z = &zones[block / ZONE_PAGES];

		spin_lock_irqsave(&z->lock, flags);
		for (pfn = block; pfn < block + BLOCK_PAGES; ) {
			if (pages[pfn].buddy) {
				fn(pfn, pages[pfn].order);
				pfn += BIT(pages[pfn].order);
			} else {
				pfn++;
			}
		}
		spin_unlock_irqrestore(&z->lock, flags);
	}
}

static void clear_mark(unsigned long pfn, unsigned int order)
{
	pages[pfn].index = OVER;
}

void guest_report(void)
{
	walk(release);
}

/* synchronize_rcu(): whoever is under a zone's lock gets out */
static void wait_for_hooks(void)
{
	unsigned long flags;

	for (unsigned int i = 0; i < NR_ZONES; i++) {
		spin_lock_irqsave(&zones[i].lock, flags);
		spin_unlock_irqrestore(&zones[i].lock, flags);
	}
}

void guest_arm(unsigned int threshold)
{
	min_order = rnd(MAX_PAGE_ORDER + 1);
	__atomic_store_n(&key, true, __ATOMIC_RELEASE);
	wait_for_hooks();
#ifndef WITHOUT_CLEARING
	walk(clear_mark);
#endif
	for (unsigned int i = 0; i < NR_QUEUES; i++)
		peq_open(&queue[i], threshold);
	__atomic_store_n(&all_marked, min_order <= LARGE_ORDER, __ATOMIC_RELAXED);
}

void guest_disarm(void)
{
	__atomic_store_n(&all_marked, false, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < NR_QUEUES; i++)
		peq_close(&queue[i]);
	__atomic_store_n(&key, false, __ATOMIC_RELEASE);
	wait_for_hooks();
}

/* The buddy allocator, under the zone's lock. */

static void add(unsigned long pfn, unsigned int order)
{
	MUST(!pages[pfn].buddy);
	pages[pfn].buddy = true;
	pages[pfn].order = order;
}

static void del(unsigned long pfn)
{
	MUST(pages[pfn].buddy);
	pages[pfn].buddy = false;
}

static bool free_one(unsigned long pfn, unsigned int order, int capture,
		     unsigned long *captured)
{
	released(pfn, order);
	while (order < MAX_PAGE_ORDER) {
		unsigned long buddy = pfn ^ BIT(order);

		if (capture == (int)order) {
#ifndef WITHOUT_CAPTURE
			allocated(pfn, order, order);
#endif
			*captured = pfn;
			return true;
		}
		if (!pages[buddy].buddy || pages[buddy].order != order)
			break;
		del(buddy);
		merged(pfn, buddy);
		pfn = min(pfn, buddy);
		order++;
		grown(pfn, order);
	}
	add(pfn, order);
	return false;
}

static void expand(unsigned long pfn, unsigned int low, unsigned int high)
{
	while (high > low) {
		high--;
		split(pfn, pfn + BIT(high));
		add(pfn + BIT(high), high);
	}
}

/* A free block of at least this order, any of the smallest ones. */
static bool find(unsigned int zone, unsigned int order, unsigned long *found)
{
	for (; order <= MAX_PAGE_ORDER; order++) {
		unsigned int start = rnd(ZONE_PAGES);

		for (unsigned int i = 0; i < ZONE_PAGES; i++) {
			unsigned long pfn = zone * ZONE_PAGES + (start + i) % ZONE_PAGES;

			if (pages[pfn].buddy && pages[pfn].order == order) {
				*found = pfn;
				return true;
			}
		}
	}
	return false;
}

static void use(unsigned long pfn, unsigned int order)
{
	uint64_t pattern = (uint64_t)(rnd(1U << 30) + 1) << 8 | (this_cpu + 1);

	for (unsigned long p = pfn; p < pfn + BIT(order); p++) {
		pages[p].owned = pattern;
		pages[p].content = pattern;
		map(p, true);
	}
}

bool guest_alloc(unsigned int zone, unsigned int order, enum leave how,
		 unsigned long *pfn)
{
	unsigned long flags;
	bool ok, marked;

	spin_lock_irqsave(&zones[zone].lock, flags);
	marked = __atomic_load_n(&all_marked, __ATOMIC_RELAXED);
	ok = find(zone, order, pfn);
	if (ok) {
		unsigned int high = pages[*pfn].order;

		del(*pfn);
		if (how == LEAVE_BY_STEAL)
			allocated(*pfn, high, high);
		expand(*pfn, order, high);
		allocated(*pfn, order, high);
		/* each page goes to the node of who touches it, which is who gets it first */
		if (marked && __atomic_load_n(&all_marked, __ATOMIC_RELAXED))
			MUST(order >= LARGE_ORDER || !maps_large(*pfn));
		map(*pfn, true);
	}
	spin_unlock_irqrestore(&zones[zone].lock, flags);
	if (ok)
		use(*pfn, order);
	return ok;
}

bool guest_free(unsigned long pfn, unsigned int order, int capture,
		unsigned long *captured)
{
	struct zone *z = &zones[pfn / ZONE_PAGES];
	unsigned long flags;
	bool was_captured;

	for (unsigned long p = pfn; p < pfn + BIT(order); p++) {
		MUST(pages[p].content == pages[p].owned);
		pages[p].owned = 0;
	}
	spin_lock_irqsave(&z->lock, flags);
	was_captured = free_one(pfn, order, capture, captured);
	/* no hint is given for it, in case Xen has been told of it in between: that is too rare */
	if (was_captured)
		map(*captured, true);
	spin_unlock_irqrestore(&z->lock, flags);
	if (was_captured)
		use(*captured, capture);
	return was_captured;
}

void guest_move(unsigned int zone, unsigned int order)
{
	unsigned long flags, pfn, unused;

	spin_lock_irqsave(&zones[zone].lock, flags);
	if (find(zone, order, &pfn)) {
		unsigned int high = pages[pfn].order;

		del(pfn);
		allocated(pfn, high, high);
		for (unsigned long p = pfn; p < pfn + BIT(high); p += BIT(order)) {
			/* a mark that is lost here because the queue is full is a hint that is lost: that is too rare */
			map(p, true);
			free_one(p, order, -1, &unused);
		}
	}
	spin_unlock_irqrestore(&zones[zone].lock, flags);
}

void guest_init(void)
{
	for (unsigned int i = 0; i < NR_ZONES; i++)
		spin_lock_init(&zones[i].lock);
	for (unsigned int i = 0; i < NR_QUEUES; i++) {
		peq_init(&queue[i], &ops);
		kick_now[i] = kick_soon[i] = false;
	}
	key = all_marked = false;
	xen_calls = xen_events = 0;
	for (unsigned long p = 0; p < NR_PAGES; p++)
		pages[p] = (struct page){ .mapped = true, .index = (unsigned long)rnd(1U << 31) << 33 | rnd(1U << 31) };
	for (unsigned long p = 0; p < NR_PAGES; p += BLOCK_PAGES)
		add(p, MAX_PAGE_ORDER);
}
