// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of each kind that keep Xen busy for long, by all vCPUs at once, between markers for the plugin of tests/bench/hold_time.
 * After each one its maker is given the results, and lets it go on.
 */
#include "hostile.h"
#include "hold-time.h"

#define LIST_MAX 1024U
#define ORDER_1M 8
#define ORDER_2M 9
#define PRESENT_WRITABLE 0x3UL
#define LARGE 0x80UL

static unsigned long cpus, rounds, has_pod;
/* 2 MiB that a vCPU has; of lists of small pages, and of 2 MiB that are given back, how many */
static unsigned long larges, smalls, given_back;
static uint32_t arrived, meetings_of[GUEST_MOST_CPUS];

static void meet(unsigned long cpu)
{
	uint32_t all = ++meetings_of[cpu] * cpus;

	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < all)
		pause_cpu();
}

/* nopl DISP(%rax); ret */
static void mark(unsigned int region, unsigned int is_end)
{
	static uint8_t code[] = { 0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0xc3 };
	uint32_t displacement = 0x584e0000 | region << 1 | is_end;

	*(volatile uint32_t *)&code[3] = displacement;
	__asm__ volatile("call *%0" : : "r"(code) : "memory");
}

/* From POPULATE_AGAIN on they are others, and so in each round: to empty them takes many flushes. */
static unsigned long area;

static unsigned long large(unsigned long cpu, unsigned long i)
{
	return OWN_GFN + ((area * cpus + cpu) * larges + i) * PAGES_2M;
}

static uint64_t *list_of(unsigned long cpu)
{
	return (uint64_t *)((LIST_GFN + 2 * cpu) << 12);
}

/* A list of gfns: each one so far from the last. */
static uint64_t *gfns(unsigned long cpu, unsigned long first, unsigned long step, unsigned int nr)
{
	uint64_t *list = list_of(cpu);

	for (unsigned int i = 0; i < nr; i++)
		list[i] = first + i * step;
	return list;
}

static long all_of(unsigned long op, uint64_t *list, unsigned int order, unsigned int nr)
{
	struct xen_memory_reservation reservation = { .nr_extents = nr, .extent_order = order, .domid = DOMID_SELF };

	set_xen_guest_handle(reservation.extent_start, list);
	return memory_op(op, &reservation);
}

static void touch(unsigned long gfn)
{
	*(volatile uint64_t *)(gfn << 12) = 0;
}

static long touch_large(unsigned long cpu)
{
	for (unsigned int i = 0; i < larges; i++)
		touch(large(cpu, i));
	/* They are more than the domain has pages for: what is zero is taken from elsewhere. */
	for (unsigned int i = 0; has_pod && i < POD_LARGE; i++)
		touch(POD_GFN + (cpu * POD_LARGE + i) * PAGES_2M);
	return 0;
}

/* 1024 pages, neighbours being of different 2 MiB. */
static unsigned long scattered(unsigned long cpu, unsigned int i)
{
	return large(cpu, i % larges) + i / larges;
}

static long touch_small(unsigned long cpu)
{
	for (unsigned int i = 0; i < LIST_MAX; i++)
		touch(scattered(cpu, i));
	return 0;
}

static long tell(uint64_t *list, unsigned int nr)
{
	struct xen_page_events events = { .nr = nr };

	set_xen_guest_handle(events.events, list);
	return memory_op(XENMEM_page_events, &events);
}

/* Of scattered pages. */
static long events(unsigned long cpu, unsigned int nr, uint64_t what)
{
	uint64_t *list = list_of(cpu);

	for (unsigned int i = 0; i < nr; i++)
		list[i] = scattered(cpu, i) | what;
	return tell(list, nr);
}

static long event_of_all(unsigned long cpu)
{
	uint64_t *list = list_of(cpu);

	list[0] = OWN_GFN | (uint64_t)XEN_PAGE_EVENT_MAX_ORDER << XEN_PAGE_EVENT_ORDER_SHIFT | XEN_PAGE_EVENT_RELEASED;
	return tell(list, 1);
}

static long argument(unsigned long cpu)
{
	unsigned long gfn = has_pod ? POD_GFN + (cpu * POD_LARGE + POD_LARGE - 1) * PAGES_2M : large(cpu, 1);

	return memory_op(XENMEM_decrease_reservation, (void *)(gfn << 12));
}

static long remove(unsigned long cpu)
{
	long result = 0;

	for (unsigned int i = 0; i < larges && !result; i++) {
		struct xen_remove_from_physmap page = { .domid = DOMID_SELF, .gpfn = large(cpu, i) };

		result = memory_op(XENMEM_remove_from_physmap, &page);
	}
	return result;
}

static long add(unsigned long cpu)
{
	struct xen_add_to_physmap pages = {
		.domid = DOMID_SELF,
		.size = smalls - 1,
		.space = XENMAPSPACE_gmfn_range,
		.idx = large(cpu, 2) + 1,
		.gpfn = large(cpu, 1) + 1,
	};

	return memory_op(XENMEM_add_to_physmap, &pages);
}

static long exchange(unsigned long cpu)
{
	uint64_t *in = gfns(cpu, large(cpu, 0), 0, 1), *out = in + 1;
	struct xen_memory_exchange exchange = {
		.in = { .nr_extents = 1, .extent_order = ORDER_2M, .domid = DOMID_SELF },
		.out = { .nr_extents = 1, .extent_order = ORDER_2M, .domid = DOMID_SELF },
	};

	*out = *in;
	set_xen_guest_handle(exchange.in.extent_start, in);
	set_xen_guest_handle(exchange.out.extent_start, out);
	return memory_op(XENMEM_exchange, &exchange);
}

static long do_step(unsigned long cpu, unsigned int step)
{
	unsigned long first = large(cpu, 0);

	switch (step) {
	case POPULATE_ONE_4K:
		return all_of(XENMEM_populate_physmap, gfns(cpu, first, 1, 1), 0, 1);
	case POPULATE_4K:
		return all_of(XENMEM_populate_physmap, gfns(cpu, first + 1, 1, smalls - 1), 0, smalls - 1);
	case DECREASE_4K:
		return all_of(XENMEM_decrease_reservation, gfns(cpu, first, 1, smalls), 0, smalls);
	case POPULATE_1M:
		return all_of(XENMEM_populate_physmap, gfns(cpu, first, 0, 1), ORDER_1M, 1);
	case DECREASE_1M:
		return all_of(XENMEM_decrease_reservation, gfns(cpu, first, 0, 1), ORDER_1M, 1);
	case POPULATE_2M:
	case POPULATE_AGAIN:
		return all_of(XENMEM_populate_physmap, gfns(cpu, first, PAGES_2M, larges), ORDER_2M, larges);
	case TOUCH_2M:
	case TOUCH_AGAIN:
	case TOUCH_SPLIT:
	case TOUCH_1G:
		return touch_large(cpu);
	case POPULATE_OVER_2M:
		return all_of(XENMEM_populate_physmap, gfns(cpu, first, 0, 1), ORDER_2M, 1);
	case DECREASE_2M:
		return all_of(XENMEM_decrease_reservation, gfns(cpu, large(cpu, larges - given_back), PAGES_2M, given_back), ORDER_2M,
			      given_back);
	case DECREASE_DIVIDING:
		return all_of(XENMEM_decrease_reservation, gfns(cpu, first, PAGES_2M, larges - given_back), 0,
			      larges - given_back);
	case EVENTS_4K:
		return events(cpu, LIST_MAX, XEN_PAGE_EVENT_RELEASED);
	case TOUCH_4K:
		return touch_small(cpu);
	case EVENTS_2M:
		return events(cpu, larges, (uint64_t)ORDER_2M << XEN_PAGE_EVENT_ORDER_SHIFT | XEN_PAGE_EVENT_RELEASED);
	case ARGUMENT:
		return argument(cpu);
	case EVENTS_SPLIT:
		return events(cpu, XEN_PAGE_EVENT_SPLITS, XEN_PAGE_EVENT_SPLIT);
	case EVENTS_1G:
		return event_of_all(cpu);
	case REMOVE:
		return remove(cpu);
	case ADD:
		return add(cpu);
	case POPULATE_OVER_4K:
		return all_of(XENMEM_populate_physmap, gfns(cpu, large(cpu, 1), 0, 1), ORDER_2M, 1);
	case EXCHANGE:
		return exchange(cpu);
	}
	return 0;
}

static void run_step(unsigned long cpu, unsigned int round, unsigned int step)
{
	static uint32_t number;
	long result;

	if (!cpu) {
		area = 2 * round + (step >= POPULATE_AGAIN);
		mark(round * NR_STEPS + step, 0);
	}
	meet(cpu);
	result = do_step(cpu, step);
	meet(cpu);
	if (!cpu)
		mark(round * NR_STEPS + step, 1);
	mailbox->values[cpu] = result;
	meet(cpu);
	if (!cpu) {
		reach(++number);
		while (__atomic_load_n(&mailbox->go, __ATOMIC_SEQ_CST) != number)
			pause_cpu();
	}
	meet(cpu);
}

static void map_second_gib(void)
{
	uint64_t *table = (uint64_t *)(TABLE_GFN << 12), *above = (uint64_t *)((GUEST_TABLES_GFN + 1) << 12);

	for (unsigned long i = 0; i < 512; i++)
		table[i] = PAGES_1G << 12 | i << 21 | LARGE | PRESENT_WRITABLE;
	__atomic_store_n(&above[1], TABLE_GFN << 12 | PRESENT_WRITABLE, __ATOMIC_SEQ_CST);
}

static void guest(unsigned long cpu)
{
	static uint32_t is_ready;

	if (!cpu) {
		cpus = mailbox->values[CPUS];
		rounds = mailbox->values[ROUNDS];
		has_pod = mailbox->values[HAS_POD];
		larges = cpus == 1 ? 32 : 4;
		smalls = cpus == 1 ? PAGES_2M : 64;
		given_back = cpus == 1 ? 16 : 1;
		map_second_gib();
		__atomic_store_n(&is_ready, 1, __ATOMIC_SEQ_CST);
	}
	while (!__atomic_load_n(&is_ready, __ATOMIC_SEQ_CST))
		pause_cpu();
	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int step = 0; step < NR_STEPS; step++)
			run_step(cpu, round, step);
	if (!cpu)
		reach(GUEST_ENDED);
}
