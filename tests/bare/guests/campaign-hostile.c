// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls what a guest may call about its memory, with whatever comes to its mind, to its end. */
#include "hostile.h"

#include <xen/grant_table.h>
#include <xen/hvm/hvm_op.h>
#include <xen/hvm/params.h>

#include "campaign.h"
#include "random.h"

#define EXTENTS 16		/* of a call, mostly */
#define GRANT_GFN 0x300UL	/* its table */
#define GRANTS 64
#define MAP_GFN 0x2000UL	/* what it maps of them, mostly in turn: to replace that is death */
#define MAP_PAGES 0x4000UL	/* a vCPU */
#define HANDLES 16
#define MEMORY_END (1UL << 18)	/* gfn behind what its own tables map */
#define SAFE_BIT 11		/* 1 << 11 and above is none of its own pages */
#define MEMOP_EXTENT_SHIFT 6	/* xen/include/xen/hypercall.h */

static struct campaign *const campaign = (struct campaign *)(GUEST_MAILBOX_GFN << 12);

static struct self {
	struct random random;
	uint64_t events[XEN_PAGE_EVENTS_MAX];
	uint64_t list[EXTENTS];			/* gfns */
	uint64_t more[EXTENTS];
	int errors[EXTENTS];
	grant_handle_t handles[HANDLES];
	uint64_t mapped[HANDLES];
	unsigned long maps;
} selves[GUEST_CPUS];

static uint64_t anything(struct self *self)
{
	return any(&self->random);
}

static uint64_t pick(struct self *self, uint64_t limit)
{
	return below(&self->random, limit);
}

static bool rarely(struct self *self, unsigned int n)
{
	return one_in(&self->random, n);
}

static uint64_t wild(struct self *self)
{
	switch (pick(self, 4)) {
	case 0:
		return anything(self);
	case 1:
		return 1UL << (SAFE_BIT + pick(self, campaign->bits - SAFE_BIT));
	case 2:
		return ~pick(self, EXTENTS);
	default:
		return MEMORY_END + pick(self, MEMORY_END);
	}
}

static unsigned long some_gfn(struct self *self)
{
	if (rarely(self, 64))
		return wild(self);
	if (rarely(self, 512))
		return MAP_GFN + pick(self, GUEST_CPUS * MAP_PAGES);
	return ARENA_GFN + pick(self, ARENA_PAGES);
}

static unsigned int some_order(struct self *self)
{
	switch (pick(self, 16)) {
	case 0:
		return pick(self, 64);
	case 1:
		return 9;
	case 2:
		return pick(self, 9);
	default:
		return 0;
	}
}

static domid_t some_domain(struct self *self)
{
	if (!rarely(self, 16))
		return DOMID_SELF;
	/* dom0, victims, itself, others that were, and whatever has a special meaning */
	if (rarely(self, 2))
		return DOMID_SELF + pick(self, 16);
	return pick(self, campaign->domid + 2);
}

static void *some_buffer(struct self *self, void *good)
{
	if (!rarely(self, 16))
		return good;
	switch (pick(self, 4)) {
	case 0:
		return (void *)0;
	case 1:
		return (void *)anything(self);
	case 2:
		return (void *)(some_gfn(self) << 12 | 0xff9);
	default:
		return (char *)good + 1;
	}
}

static unsigned int some_number(struct self *self)
{
	return rarely(self, 32) ? wild(self) : 1 + pick(self, EXTENTS);
}

static unsigned long start_of(struct self *self)
{
	return rarely(self, 16) ? anything(self) << MEMOP_EXTENT_SHIFT : 0;
}

static void fill(struct self *self, struct xen_memory_reservation *reservation, uint64_t *list)
{
	for (int i = 0; i < EXTENTS; i++)
		list[i] = some_gfn(self);
	reservation->nr_extents = some_number(self);
	reservation->extent_order = some_order(self);
	reservation->mem_flags = rarely(self, 8) ? anything(self) : 0;
	reservation->domid = some_domain(self);
	/* a call for 2 MiB or so leaves something for the next one */
	if (reservation->extent_order)
		reservation->nr_extents = rarely(self, 16) ? reservation->nr_extents : 1;
	/* behind its own list there are no gfns */
	if (reservation->nr_extents > EXTENTS)
		list = (uint64_t *)(ARENA_GFN << 12);
	set_xen_guest_handle(reservation->extent_start, some_buffer(self, list));
}

static bool reserve(struct self *self, unsigned long op)
{
	struct xen_memory_reservation reservation;

	fill(self, &reservation, self->list);
	return memory_op(op | start_of(self), some_buffer(self, &reservation)) > 0;
}

static bool exchange(struct self *self)
{
	struct xen_memory_exchange exchange;

	fill(self, &exchange.in, self->list);
	fill(self, &exchange.out, self->more);
	exchange.out.domid = exchange.in.domid;
	if (!rarely(self, 8)) {
		exchange.out.nr_extents = exchange.in.nr_extents;
		exchange.out.extent_order = exchange.in.extent_order;
	}
	exchange.nr_exchanged = 0;
	if (rarely(self, 4))
		exchange.nr_exchanged = pick(self, exchange.in.nr_extents + 1UL);
	return !memory_op(XENMEM_exchange, &exchange);
}

static bool add(struct self *self)
{
	struct xen_add_to_physmap add = {
		.domid = some_domain(self),
		.size = some_number(self),
		.space = pick(self, 8),
		.idx = pick(self, 4),
		.gpfn = some_gfn(self),
	};

	if (add.space == XENMAPSPACE_gmfn_range)
		add.idx = some_gfn(self);
	return !memory_op(XENMEM_add_to_physmap | start_of(self), some_buffer(self, &add));
}

static bool add_batch(struct self *self)
{
	struct xen_add_to_physmap_batch batch = {
		.domid = some_domain(self),
		.space = pick(self, 8),
		.size = rarely(self, 16) ? some_number(self) : 1 + pick(self, EXTENTS),
		.u.foreign_domid = some_domain(self),
	};

	for (int i = 0; i < EXTENTS; i++) {
		self->more[i] = pick(self, 8);
		if (batch.space == XENMAPSPACE_gmfn_foreign)
			self->more[i] = some_gfn(self);
		self->list[i] = some_gfn(self);
	}
	set_xen_guest_handle(batch.idxs, some_buffer(self, self->more));
	set_xen_guest_handle(batch.gpfns, some_buffer(self, self->list));
	set_xen_guest_handle(batch.errs, some_buffer(self, self->errors));
	/* that many are not to be written over its own program */
	if (batch.size > EXTENTS)
		set_xen_guest_handle(batch.errs, (int *)(ARENA_GFN << 12));
	return !memory_op(XENMEM_add_to_physmap_batch | start_of(self), some_buffer(self, &batch));
}

static bool remove(struct self *self)
{
	struct xen_remove_from_physmap remove = {
		.domid = some_domain(self),
		.gpfn = some_gfn(self),
	};

	return !memory_op(XENMEM_remove_from_physmap, some_buffer(self, &remove));
}

static bool tell(struct self *self, unsigned int nr)
{
	struct xen_page_events events = { .nr = nr };

	set_xen_guest_handle(events.events, self->events);
	return !memory_op(XENMEM_page_events, &events);
}

static bool page_events(struct self *self, uint64_t flag)
{
	unsigned int nr = 1 + pick(self, 4 * EXTENTS);

	if (rarely(self, 64))
		nr = XEN_PAGE_EVENTS_MAX;
	for (unsigned int i = 0; i < nr; i++) {
		unsigned long gfn = ARENA_GFN + pick(self, ARENA_PAGES), order = 0;

		if (flag == XEN_PAGE_EVENT_RELEASED && rarely(self, 16))
			order = 9;
		self->events[i] = gfn >> order << order | order << XEN_PAGE_EVENT_ORDER_SHIFT;
		if (!rarely(self, 4))
			self->events[i] |= flag;
	}
	return tell(self, nr);
}

static bool garbage_events(struct self *self)
{
	struct xen_page_events events = { .nr = pick(self, 2 * XEN_PAGE_EVENTS_MAX) };

	if (rarely(self, 2))
		events.nr = some_number(self);
	for (unsigned int i = 0; i < XEN_PAGE_EVENTS_MAX; i++)
		self->events[i] = rarely(self, 2) ? anything(self)
						: some_gfn(self) | anything(self) << 52;
	events.done = rarely(self, 8) ? anything(self) : 0;
	set_xen_guest_handle(events.events, some_buffer(self, self->events));
	return !memory_op(XENMEM_page_events | start_of(self), some_buffer(self, &events));
}

static void map_grants(void)
{
	struct xen_add_to_physmap add = {
		.domid = DOMID_SELF,
		.space = XENMAPSPACE_grant_table,
		.gpfn = GRANT_GFN,
	};

	memory_op(XENMEM_add_to_physmap, &add);
}

/* Its own pages are granted to itself, mostly. */
static void grant(struct self *self)
{
	volatile grant_entry_v1_t *entry = (volatile grant_entry_v1_t *)(GRANT_GFN << 12);

	entry += pick(self, GRANTS);
	entry->frame = some_gfn(self);
	entry->domid = rarely(self, 16) ? some_domain(self) : campaign->domid;
	entry->flags = GTF_permit_access | (rarely(self, 4) ? GTF_readonly : 0);
}

/*
 * A large number that Xen takes has it read, and write to, all of the guest's memory: that takes half a
 * minute, and what was its program is no more.
 */
static unsigned long some_grants(struct self *self)
{
	if (!rarely(self, 64))
		return 1;
	switch (pick(self, 4)) {
	case 0:
		return rarely(self, 64) ? anything(self) : 2;
	case 1:
		return 1UL << (31 + pick(self, 33));
	case 2:
		return ~pick(self, EXTENTS);
	default:
		return 0;
	}
}

static bool grant_op(struct self *self, unsigned int op, void *argument)
{
	unsigned long nr = some_grants(self);

	return !hypercall(__HYPERVISOR_grant_table_op, op, (uintptr_t)argument, nr, 0);
}

static bool grant_map(struct self *self)
{
	unsigned long turn = (self - selves) * MAP_PAGES + self->maps++ % MAP_PAGES;
	unsigned long gfn = rarely(self, 512) ? some_gfn(self) : MAP_GFN + turn;
	struct gnttab_map_grant_ref map = {
		.host_addr = gfn << 12,
		.ref = pick(self, GRANTS),
		.dom = rarely(self, 16) ? some_domain(self) : campaign->domid,
		.flags = rarely(self, 16) ? anything(self) : GNTMAP_host_map,
	};

	unsigned int at = pick(self, HANDLES);

	grant(self);
	if (!grant_op(self, GNTTABOP_map_grant_ref, some_buffer(self, &map)) ||
	    map.status != GNTST_okay)
		return false;
	self->handles[at] = map.handle;
	self->mapped[at] = map.host_addr;
	return true;
}

static bool grant_unmap(struct self *self)
{
	unsigned int at = pick(self, HANDLES);
	struct gnttab_unmap_grant_ref unmap = {
		.host_addr = rarely(self, 8) ? some_gfn(self) << 12 : self->mapped[at],
		.handle = rarely(self, 16) ? anything(self) : self->handles[at],
	};

	return grant_op(self, GNTTABOP_unmap_grant_ref, &unmap) && unmap.status == GNTST_okay;
}

static void copy_end(struct self *self, struct gnttab_copy *copy, bool source)
{
	bool by_reference = rarely(self, 2);
	domid_t domid = by_reference ? campaign->domid : some_domain(self);
	unsigned long gfn = some_gfn(self);
	uint32_t ref = pick(self, GRANTS);

	if (source) {
		copy->source.domid = domid;
		copy->source.offset = pick(self, 4096);
		copy->flags |= by_reference ? GNTCOPY_source_gref : 0;
	} else {
		copy->dest.domid = domid;
		copy->dest.offset = pick(self, 4096);
		copy->flags |= by_reference ? GNTCOPY_dest_gref : 0;
	}
	if (source && by_reference)
		copy->source.u.ref = ref;
	else if (source)
		copy->source.u.gmfn = gfn;
	else if (by_reference)
		copy->dest.u.ref = ref;
	else
		copy->dest.u.gmfn = gfn;
}

static bool grant_copy(struct self *self)
{
	struct gnttab_copy copy = { .len = pick(self, 4097), .flags = 0 };

	grant(self);
	copy_end(self, &copy, true);
	copy_end(self, &copy, false);
	return grant_op(self, GNTTABOP_copy, some_buffer(self, &copy)) && copy.status == GNTST_okay;
}

static bool grant_version(struct self *self)
{
	/* with the first one its entries are what grant() writes */
	struct gnttab_set_version version = { .version = 1 };

	if (rarely(self, 8))
		version.version = pick(self, 4);
	return grant_op(self, GNTTABOP_set_version, some_buffer(self, &version));
}

static bool set_param(struct self *self)
{
	struct xen_hvm_param param = {
		.domid = some_domain(self), .index = pick(self, HVM_NR_PARAMS + 2),
		.value = rarely(self, 2) ? pick(self, 8) : anything(self),
	};

	return !hypercall(__HYPERVISOR_hvm_op, HVMOP_set_param,
			  (uintptr_t)some_buffer(self, &param), 0, 0);
}

static bool altp2m(struct self *self)
{
	union {
		struct xen_hvm_altp2m_op op;
		uint64_t words[sizeof(struct xen_hvm_altp2m_op) / sizeof(uint64_t)];
	} it;

	for (unsigned int i = 0; i < sizeof(it) / sizeof(uint64_t); i++)
		it.words[i] = anything(self);
	it.op.version = HVMOP_ALTP2M_INTERFACE_VERSION;
	it.op.cmd = pick(self, 16);
	it.op.domain = some_domain(self);
	it.op.pad1 = it.op.pad2 = 0;
	return !hypercall(__HYPERVISOR_hvm_op, HVMOP_altp2m, (uintptr_t)&it, 0, 0);
}

/* What it writes there is its own affair: whether the place is memory. */
static bool touch(struct self *self)
{
	unsigned long gfn = ARENA_GFN + pick(self, ARENA_PAGES + ARENA_PAGES / 8);
	volatile uint64_t *word = (volatile uint64_t *)(gfn << 12);
	uint64_t value = anything(self);

	if (rarely(self, 4))
		return *word != UINT64_MAX;
	*word = value;
	return *word == value;
}

static bool call(struct self *self, unsigned int which)
{
	switch (which) {
	case CALL_POPULATE:
		return reserve(self, XENMEM_populate_physmap);
	case CALL_INCREASE:
		return reserve(self, XENMEM_increase_reservation);
	case CALL_DECREASE:
		return reserve(self, XENMEM_decrease_reservation);
	case CALL_EXCHANGE:
		return exchange(self);
	case CALL_ADD:
		return add(self);
	case CALL_ADD_BATCH:
		return add_batch(self);
	case CALL_REMOVE:
		return remove(self);
	case CALL_EVENTS:
		return page_events(self, XEN_PAGE_EVENT_RELEASED);
	case CALL_SPLIT:
		return page_events(self, XEN_PAGE_EVENT_SPLIT);
	case CALL_GARBAGE_EVENTS:
		return garbage_events(self);
	case CALL_GRANT_MAP:
		return grant_map(self);
	case CALL_GRANT_UNMAP:
		return grant_unmap(self);
	case CALL_GRANT_COPY:
		return grant_copy(self);
	case CALL_GRANT_VERSION:
		return grant_version(self);
	case CALL_SET_PARAM:
		return set_param(self);
	case CALL_ALTP2M:
		return altp2m(self);
	default:
		return touch(self);
	}
}

static unsigned int some_call(struct self *self)
{
	/* what eats its memory for good is rare */
	static const uint8_t weights[NR_CALLS] = {
		[CALL_POPULATE] = 12, [CALL_INCREASE] = 1, [CALL_DECREASE] = 16,
		[CALL_EXCHANGE] = 3, [CALL_ADD] = 6, [CALL_ADD_BATCH] = 4, [CALL_REMOVE] = 6,
		[CALL_EVENTS] = 16, [CALL_SPLIT] = 4, [CALL_GARBAGE_EVENTS] = 4,
		[CALL_GRANT_MAP] = 8, [CALL_GRANT_UNMAP] = 6, [CALL_GRANT_COPY] = 6,
		[CALL_GRANT_VERSION] = 1,
		[CALL_SET_PARAM] = 2, [CALL_ALTP2M] = 1, [CALL_TOUCH] = 32,
	};
	unsigned int at = pick(self, 128);

	for (unsigned int i = 0;; i++) {
		if (at < weights[i])
			return i;
		at -= weights[i];
	}
}

static void guest(unsigned long cpu)
{
	struct self *self = &selves[cpu];
	struct count *counts = campaign->counts[cpu];

	if (!cpu)
		map_grants();
	self->random.state = campaign->seed + cpu;
	for (;;) {
		unsigned int which = some_call(self);
		uint64_t began = cycles();
		bool accepted = call(self, which);

		count_one(&counts[which], accepted, cycles() - began);
	}
}
