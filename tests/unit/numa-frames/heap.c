/* SPDX-License-Identifier: GPL-2.0-only */
/* A heap that knows what the next owner of a frame may not find. */
#include "harness.h"
#include "p2m-numa-batch.h"

#define SECRET (-1)

static struct page_info frames[FRAMES];
struct entry p2m_entries[P2M_PAGES];
struct domain dom;
nodemask_t node_online_map = { { (1UL << NODES) - 1 } };
nodeid_t machine_wanted;
unsigned int machine_grain;
unsigned long machine_placed;
long machine_counted[NODES];
int (*machine_set_entry)(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t);
bool hap_has_2mb, machine_has_ept;
struct oom oom;
static int contents;
unsigned int machine_cpu, machine_locks;
unsigned long *machine_offline;
static unsigned int changes;
bool machine_marks;
unsigned long machine_claimed;
unsigned int machine_shared_at;
unsigned long machine_locked_work;
void (*machine_other_cpu)(void);
bool (*machine_populate_2m)(gfn_t gfn, struct page_info *pg);

/* A domain's own list is under a lock. */
static void check_list(const struct page_list_head *l)
{
	assert(l != &dom.page_list || dom.page_alloc_lock);
}

void page_list_add_tail(struct page_info *pg, struct page_list_head *l)
{
	check_list(l);
	assert(!pg->list);
	pg->list = l;
	pg->next = NULL;
	pg->prev = l->tail;
	*(l->tail ? &l->tail->next : &l->head) = pg;
	l->tail = pg;
}

void page_list_add(struct page_info *pg, struct page_list_head *l)
{
	check_list(l);
	assert(!pg->list);
	pg->list = l;
	pg->prev = NULL;
	pg->next = l->head;
	*(l->head ? &l->head->prev : &l->tail) = pg;
	l->head = pg;
}

void page_list_del(struct page_info *pg, struct page_list_head *l)
{
	check_list(l);
	assert(pg->list == l);
	*(pg->prev ? &pg->prev->next : &l->head) = pg->next;
	*(pg->next ? &pg->next->prev : &l->tail) = pg->prev;
	pg->list = NULL;
}

struct page_info *page_list_remove_head(struct page_list_head *l)
{
	struct page_info *pg = l->head;

	if (pg)
		page_list_del(pg, l);
	return pg;
}

void page_list_splice(struct page_list_head *from, struct page_list_head *to)
{
	struct page_info *pg, *last = from->tail;

	check_list(to);
	if (!last)
		return;
	for (pg = from->head; pg; pg = pg->next) {
		assert(pg->list == from);
		pg->list = to;
	}
	last->next = to->head;
	*(to->head ? &to->head->prev : &to->tail) = last;
	to->head = from->head;
	/* Xen leaves it as it was: what is there is not on it. */
	*from = (struct page_list_head){ (void *)1, (void *)1 };
}

mfn_t page_to_mfn(const struct page_info *pg)
{
	return _mfn(pg - frames);
}

struct page_info *mfn_to_page(mfn_t mfn)
{
	assert(mfn.mfn < FRAMES);
	return &frames[mfn.mfn];
}

nodeid_t mfn_to_nid(mfn_t mfn)
{
	return mfn.mfn / NODE_PAGES;
}

/* On the node's last pages first, as Xen takes what is above the DMA zone first. */
struct page_info *alloc_domheap_pages(struct domain *d, unsigned int order, unsigned int memflags)
{
	nodeid_t node = (memflags >> 16 & 0xff) - 1;
	unsigned long size = 1UL << order, base = node * NODE_PAGES, i, j;

	assert(node < NODES && memflags & MEMF_exact_node && memflags & MEMF_no_owner);
	if (oom_strikes(OOM_FRAMES) || avail_unclaimed_pages(NULL) < size)
		return NULL;
	machine_locked_work += machine_locks ? size : 0;
	for (i = NODE_PAGES - size; ; i -= size) {
		if (!node && i < DMA_PAGES && memflags & MEMF_no_dma)
			return NULL;
		for (j = 0; j < size && frames[base + i + j].is_free; j++)
			;
		if (j == size)
			break;
		if (!i)
			return NULL;
	}
	for (j = base + i; j < base + i + size; j++) {
		struct page_info *pg = &frames[j];

		pg->in_tlb &= !pg->need_tlbflush;
		if (!(memflags & MEMF_no_scrub) && pg->content)
			pg->content = 0;
		pg->is_free = pg->need_tlbflush = false;
		pg->u.inuse.type_info = 0;
	}
	if (machine_marks)
		frames[base + i + size / 2].count_info = PGC_state_offlining | PGC_broken;
	machine_marks = false;
	return &frames[base + i];
}

bool machine_is_shared(void)
{
	if (machine_shared_at < 2)
		return machine_shared_at;
	machine_shared_at--;
	return false;
}

/* As mark_page_offline() does. */
void machine_take_offline(void *where)
{
	if (where != machine_offline || !changes++)
		return;
	machine_offline = NULL;
	changes = 0;
	*(unsigned long *)where |= PGC_state_offlining;
}

/* As mark_page_free() does. */
static void free_heap_pages(struct page_info *pg, unsigned int order)
{
	machine_locked_work += machine_locks ? 1UL << order : 0;
	for (unsigned long i = 0; i < 1UL << order; i++) {
		assert(!pg[i].is_free && !pg[i].list && !(pg[i].count_info & (PGC_allocated | PGC_count_mask)));
		/* what put_page() would have made coherent */
		assert(!pg[i].uncached);
		assert(!(pg[i].count_info & PGC_broken) || pg[i].count_info & PGC_state_offlining);
		pg[i].need_tlbflush = pg[i].owner != NULL;
		pg[i].owner = NULL;
		pg[i].m2p = ~0UL;
		if (pg[i].content > 0)
			pg[i].content = SECRET;
		pg[i].is_offline = pg[i].count_info & PGC_state_offlining;
		pg[i].is_free = !pg[i].is_offline;
		if (pg[i].is_free)
			pg[i].count_info = 0;
		/* The next one has it flushed, if it is known to be needed. */
		assert(pg[i].need_tlbflush || !pg[i].in_tlb);
	}
}

void free_domheap_pages(struct page_info *pg, unsigned int order)
{
	/* Or the domain would own fewer pages than it has. */
	assert(!pg->owner);
	free_heap_pages(pg, order);
}

void free_replaced_pages(struct page_info *pg, unsigned int order)
{
	for (unsigned long i = 0; i < 1UL << order; i++)
		assert(pg[i].owner && !(pg[i].u.inuse.type_info & PGT_count_mask));
	free_heap_pages(pg, order);
}

/* A substitute for need_tlbflush that only knows of what had a type. */
void filtered_flush_tlb_mask(uint32_t stamp)
{
	for (unsigned long i = 0; i < FRAMES; i++)
		if (frames[i].u.inuse.type_info & PGT_type_mask)
			frames[i].in_tlb = false;
}

unsigned long avail_node_heap_pages(unsigned int node)
{
	return machine_free(node);
}

unsigned long avail_node_no_dma_pages(unsigned int node)
{
	return machine_free(node) - (node ? 0 : machine_free_for_dma());
}

unsigned long avail_unclaimed_pages(const struct domain *d)
{
	unsigned long all = 0;

	/* nobody here has claimed anything */
	assert(!d);
	for (nodeid_t node = 0; node < NODES; node++)
		all += machine_free(node);
	return all - machine_claimed;
}

unsigned long node_present_pages(nodeid_t node)
{
	return node < NODES ? NODE_PAGES : 0;
}

void clear_domain_page(mfn_t mfn)
{
	machine_locked_work += machine_locks != 0;
	frames[mfn.mfn].content = 0;
}

void copy_domain_page(mfn_t to, mfn_t from)
{
	assert(!frames[from.mfn].uncached);
	machine_guest();
	machine_time += machine_copy_takes;
	machine_copies++;
	frames[to.mfn].content = frames[from.mfn].content;
	machine_guest();
}

static char window[PAGE_SIZE];
static const struct page_info *in_window;

void *__map_domain_page(const struct page_info *pg)
{
	assert(!in_window);
	in_window = pg;
	memset(window, 1, sizeof(window));
	return window;
}

void unmap_domain_page(const void *page)
{
	assert(page == window && !window[0] && !memcmp(window, window + 1, sizeof(window) - 1));
	frames[in_window - frames].content = 0;
	in_window = NULL;
}

int p2m_set_entry(struct p2m_domain *p2m, gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t, p2m_access_t a)
{
	if (!machine_set_entry)
		abort();
	assert(p2m->locked);
	/* Xen would make it pages of 4 KiB. */
	assert(!((gfn_x(gfn) | (mfn_x(mfn) == mfn_x(INVALID_MFN) ? 0 : mfn_x(mfn))) & ((1UL << order) - 1)));
	/* With batch_flush, and of EPT, it is only said to be due. */
	p2m->need_flush = true;
	return machine_set_entry(gfn, mfn, order, t);
}

bool p2m_pod_populate_2m(struct p2m_domain *p2m, gfn_t gfn, struct page_info *pg)
{
	assert(machine_locks == 2);
	return machine_populate_2m(gfn, pg);
}

void p2m_tlb_flush_sync(struct p2m_domain *p2m)
{
	assert(p2m->locked);
	if (p2m->need_flush)
		p2m_numa_flush(p2m);
}

/* The guest, as said in harness.h. */
static struct { bool valid, writable, dirty; unsigned long mfn; } guest_tlb[2][P2M_PAGES];	/* of two CPUs */
static int guest_wrote[P2M_PAGES];
static unsigned long guest_turn;
bool machine_guest_runs;
unsigned long machine_guest_writes, machine_guest_waits, machine_flushes, machine_copies, machine_slow_flush;
s_time_t machine_time, machine_copy_takes, machine_flush_takes, machine_change_takes;

s_time_t machine_now(void)
{
	return machine_time;
}

int machine_wanted_content(unsigned long gfn)
{
	return gfn + 1 + guest_wrote[gfn];
}

static void guest_walks(unsigned int cpu, unsigned long gfn, bool write)
{
	struct entry *e = &p2m_entries[gfn];

	if (write)
		e->raw |= ENTRY_DIRTY;
	guest_tlb[cpu][gfn].valid = true;
	guest_tlb[cpu][gfn].writable = e->raw & ENTRY_WRITE;
	guest_tlb[cpu][gfn].dirty = e->raw & ENTRY_DIRTY;
	guest_tlb[cpu][gfn].mfn = (e->raw & PADDR_MASK) >> PAGE_SHIFT;
}

static void guest_accesses(unsigned int cpu, unsigned long gfn, bool write)
{
	if (!guest_tlb[cpu][gfn].valid)
		guest_walks(cpu, gfn, false);
	assert(frames[guest_tlb[cpu][gfn].mfn].content == machine_wanted_content(gfn));
	if (!write)
		return;
	if (!guest_tlb[cpu][gfn].writable || !guest_tlb[cpu][gfn].dirty) {
		if (!(p2m_entries[gfn].raw & ENTRY_WRITE)) {
			machine_guest_waits++;
			return;
		}
		guest_walks(cpu, gfn, true);
	}
	frames[guest_tlb[cpu][gfn].mfn].content++;
	guest_wrote[gfn]++;
	machine_guest_writes++;
}

void machine_guest(void)
{
	if (!machine_guest_runs)
		return;
	guest_turn = guest_turn * 6364136223846793005UL + 1442695040888963407UL;
	for (unsigned int i = 0; i < 3; i++) {
		unsigned long gfn = (guest_turn >> (20 + 12 * i)) % 24;

		if (p2m_entries[gfn].present)
			guest_accesses(guest_turn >> (57 + i) & 1, gfn, guest_turn >> (60 + i) & 1);
	}
}

bool is_xen_heap_mfn(mfn_t mfn)
{
	return false;
}

/* Of an entry that is there, and stays, on another node. */
void p2m_numa_count(struct p2m_domain *p2m, uint64_t old, uint64_t new, unsigned int level)
{
	long pages = 1L << (level - 1) * PAGETABLE_ORDER;

	assert(p2m->locked && !((old ^ new) & ~(PADDR_MASK & PAGE_MASK) & P2M_NUMA_COUNTED));
	machine_counted[mfn_to_nid(maddr_to_mfn(old & PADDR_MASK))] -= pages;
	machine_counted[mfn_to_nid(maddr_to_mfn(new & PADDR_MASK))] += pages;
}

void p2m_numa_flush(struct p2m_domain *p2m)
{
	assert(p2m->locked);
	p2m->need_flush = false;
	machine_guest();
	machine_time += machine_flush_takes * (++machine_flushes == machine_slow_flush ? 100 : 1);
	memset(guest_tlb, 0, sizeof(guest_tlb));
	machine_guest();
}

nodeid_t numa_policy_touch(struct domain *d, gfn_t gfn, nodemask_t *home, unsigned int *grain)
{
	*home = node_online_map;
	*grain = machine_grain;
	return machine_wanted;
}

void numa_policy_touched(struct domain *d, bool placed, unsigned int nr)
{
	machine_placed += placed ? nr : 0;
}

nodeid_t numa_policy_nearest(nodeid_t to, const nodemask_t *left, const nodemask_t *home)
{
	for (nodeid_t n = 0; n < NODES; n++)
		if (left->bits[0] >> n & 1)
			return n;
	return NUMA_NO_NODE;
}

/* The p2m, as the walk shows it. */
void p2m_numa_walk_begin(struct p2m_numa_walk *w, struct p2m_domain *p2m) {}
void p2m_numa_walk_end(struct p2m_numa_walk *w) {}

void p2m_numa_walk_look(struct p2m_numa_walk *w, gfn_t gfn, struct p2m_numa_entry *e)
{
	const struct entry *is = &p2m_entries[gfn.gfn];

	*e = (struct p2m_numa_entry){ .mfn = _mfn((is->raw & PADDR_MASK) >> PAGE_SHIFT), .type = is->present ? p2m_ram_rw : p2m_mmio_dm,
		.order = is->order };
}

void p2m_numa_walk_find(struct p2m_numa_walk *w, gfn_t gfn)
{
	w->place.index = gfn.gfn;
	w->raw = p2m_entries[gfn.gfn].raw;
}

uint64_t *p2m_numa_walk_map(struct p2m_numa_walk *w, const struct p2m_numa_place *place)
{
	machine_time += machine_change_takes;
	return &p2m_entries[place->index].raw;
}

void machine_reset(void)
{
	memset(frames, 0, sizeof(frames));
	memset(p2m_entries, 0, sizeof(p2m_entries));
	memset(machine_counted, 0, sizeof(machine_counted));
	dom = (struct domain){ .p2m.domain = &dom, .arch.paging = { 800, 800, 0 } };
	in_window = NULL;
	machine_placed = machine_locked_work = 0;
	machine_cpu = machine_locks = 0;
	machine_other_cpu = NULL;
	machine_offline = NULL;
	changes = 0;
	machine_marks = false;
	machine_claimed = 0;
	machine_shared_at = 0;
	machine_grain = 9;
	contents = 0;
	machine_guest_runs = machine_has_ept = false;
	machine_guest_writes = machine_guest_waits = machine_flushes = machine_copies = machine_slow_flush = 0;
	machine_time = machine_copy_takes = machine_flush_takes = machine_change_takes = 0;
	memset(guest_tlb, 0, sizeof(guest_tlb));
	memset(guest_wrote, 0, sizeof(guest_wrote));
	for (unsigned long i = 0; i < FRAMES; i++) {
		frames[i].is_free = true;
		frames[i].m2p = ~0UL;
	}
}

void machine_leave_dirty(nodeid_t node)
{
	for (unsigned long i = node * NODE_PAGES; i < (node + 1) * NODE_PAGES; i++)
		if (frames[i].is_free)
			frames[i].content = SECRET;
}

unsigned long machine_free(nodeid_t node)
{
	unsigned long nr = 0;

	for (unsigned long i = node * NODE_PAGES; i < (node + 1) * NODE_PAGES; i++)
		nr += frames[i].is_free;
	return nr;
}

unsigned long machine_free_for_dma(void)
{
	unsigned long nr = 0;

	for (unsigned long i = 0; i < DMA_PAGES; i++)
		nr += frames[i].is_free;
	return nr;
}

void machine_fill(nodeid_t node, unsigned long pages)
{
	unsigned long left = machine_free(node);

	for (unsigned long i = (node + 1) * NODE_PAGES; left > pages; )
		if (frames[--i].is_free) {
			frames[i].is_free = false;
			left--;
		}
}

void machine_fragment(nodeid_t node)
{
	for (unsigned long i = node ? 0 : DMA_PAGES; i < NODE_PAGES; i += 2)
		frames[node * NODE_PAGES + i].is_free = false;
}

unsigned long machine_owned(const struct domain *d)
{
	unsigned long nr = 0;

	for (unsigned long i = 0; i < FRAMES; i++)
		nr += frames[i].owner == d;
	return nr;
}

struct page_info *machine_give(nodeid_t node, unsigned int order)
{
	struct page_info *pg = alloc_domheap_pages(&dom, order, MEMF_no_owner | MEMF_exact_node | MEMF_node(node));

	assert(pg);
	for (unsigned long i = 0; i < 1UL << order; i++) {
		page_set_owner(pg + i, &dom);
		pg[i].count_info = PGC_allocated | 1;
		pg[i].content = ++contents;
		pg[i].in_tlb = true;
	}
	return pg;
}

void machine_list(struct page_info *pg)
{
	nrspin_lock(&dom.page_alloc_lock);
	page_list_add_tail(pg, &dom.page_list);
	nrspin_unlock(&dom.page_alloc_lock);
}

void machine_check(void)
{
	assert(!in_window);
	for (unsigned long i = 0; i < FRAMES; i++) {
		assert(!frames[i].owner || frames[i].content >= 0);
		assert(!frames[i].is_free || !frames[i].in_tlb || frames[i].need_tlbflush);
	}
}
