/* SPDX-License-Identifier: GPL-2.0-only */
/* A heap without buddies and a p2m without tables, too simple to be wrong. */
#include <time.h>

#include "machine.h"

static struct page_info frames[MAX_NUMNODES * NODE_PAGES];
static bool is_free[MAX_NUMNODES * NODE_PAGES];
static unsigned long avail[MAX_NUMNODES], present[MAX_NUMNODES];
static unsigned long owned, extra;	/* Xen's own pages are extra */
unsigned long machine_dma_pages, machine_claimed, machine_own_claim, machine_asked;

struct p2m_entry p2m[P2M_PAGES];
nodemask_t node_online_map;
unsigned int test_distance[MAX_NUMNODES][MAX_NUMNODES];
int test_locks_held;
struct oom oom;
struct vcpu *current;
void (*machine_meanwhile)(void);
void (*machine_at_barrier)(void);
void (*machine_at_lock)(void);
unsigned int machine_preempt_percent, machine_p2m_fail_percent, machine_dies_in;
int machine_p2m_pages = -1, machine_gfns_locked;
static struct domain somebody;
bool machine_reuses, machine_stays_mapped;

/* That of a policy, then that of its sampling. */
void test_lock_order(const char *name)
{
	static const char *outer;

	if (!test_locks_held)
		outer = name;
	else
		assert(test_locks_held == 1 && !strcmp(outer, "&np->lock") && !strcmp(name, "&s->lock"));
}

static uint64_t state;

uint64_t test_seed(void)
{
	const char *env = getenv("SEED");
	uint64_t seed = env ? strtoull(env, NULL, 0) : (uint64_t)time(NULL) * 2654435761u;

	printf("replay with SEED=%" PRIu64 "\n", seed);
	state = seed | 1;
	return seed;
}

/* xorshift64*, Marsaglia and Vigna. */
unsigned int rnd(unsigned int below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)((state * 2685821657736338717ULL) >> 33) % below;
}

void machine_reset(unsigned int nodes, const unsigned long pages[])
{
	owned = extra = 0;
	machine_dies_in = 0;
	machine_dma_pages = machine_claimed = machine_own_claim = machine_asked = 0;
	machine_p2m_pages = -1;
	machine_reuses = machine_stays_mapped = false;
	node_online_map.bits[0] = 0;
	memset(frames, 0, sizeof(frames));
	memset(is_free, 0, sizeof(is_free));
	memset(p2m, 0, sizeof(p2m));
	for (unsigned long i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i].m2p = INVALID_M2P_ENTRY;

	for (unsigned int n = 0; n < nodes; n++) {
		assert(pages[n] <= NODE_PAGES);
		node_set(n, node_online_map);
		present[n] = avail[n] = pages[n];
		memset(&is_free[n * NODE_PAGES], true, pages[n]);
		for (unsigned int m = 0; m < nodes; m++)
			test_distance[n][m] = n == m ? 10 : 20;
	}
}

nodeid_t machine_node_of(unsigned long mfn)
{
	return mfn / NODE_PAGES;
}

void machine_fragment(nodeid_t node, unsigned int percent)
{
	for (unsigned long i = node * NODE_PAGES; i < node * NODE_PAGES + present[node]; i++)
		if (is_free[i] && rnd(100) < percent) {
			is_free[i] = false;
			avail[node]--;
		}
}

unsigned long machine_owned(void)
{
	return owned;
}

unsigned long node_present_pages(nodeid_t node)
{
	return present[node];
}

unsigned long avail_node_heap_pages(unsigned int node)
{
	return avail[node];
}

unsigned long avail_node_no_dma_pages(unsigned int node)
{
	unsigned long dma = 0;

	for (unsigned long i = 0; !node && i < machine_dma_pages; i++)
		dma += is_free[i];
	return avail[node] - dma;
}

unsigned long avail_unclaimed_pages(const struct domain *d)
{
	unsigned long all = 0;
	nodeid_t node;

	for_each_node_mask(node, node_online_map)
		all += avail[node];
	all -= min(all, machine_claimed);
	return d ? max(all, machine_own_claim) : all;
}

unsigned int domain_tot_pages(const struct domain *d)
{
	(void)d;
	return owned - extra;
}

static void free_frame(struct page_info *pg);

static long find_block(nodeid_t node, unsigned int order, unsigned long from)
{
	unsigned long size = 1UL << order, base = node * NODE_PAGES;

	for (unsigned long i = (from + size - 1) & ~(size - 1); i + size <= present[node]; i += size) {
		unsigned long j = 0;

		while (j < size && is_free[base + i + j])
			j++;
		if (j == size)
			return base + i;
	}
	return -1;
}

bool machine_has_block(nodeid_t node, unsigned int order)
{
	return avail[node] >> order && find_block(node, order, 0) >= 0;
}

/* As domain_kill() does, on another CPU. */
static void dies(struct domain *d)
{
	if (!machine_dies_in || --machine_dies_in)
		return;

	d->is_dying = true;
	memset(p2m, 0, sizeof(p2m));
	for (unsigned long i = 0; i < ARRAY_SIZE(frames); i++) {
		if (frames[i].owner != d)
			continue;
		frames[i].mapped = false;
		if (frames[i].of_another_vcpu)
			continue;
		free_frame(&frames[i]);
		if (rnd(2)) {
			is_free[i] = false;
			avail[machine_node_of(i)]--;
			frames[i] = (struct page_info){ .owner = &somebody, .count = 1, .allocated = true, .m2p = INVALID_M2P_ENTRY };
		}
	}
}

void machine_destroy(struct domain *d)
{
	nodeid_t node;

	d->is_dying = true;
	memset(p2m, 0, sizeof(p2m));
	for_each_node_mask(node, node_online_map)
		for (unsigned long i = node * NODE_PAGES; i < node * NODE_PAGES + present[node]; i++)
			if (frames[i].owner == d) {
				frames[i].mapped = false;
				free_frame(&frames[i]);
			}
}

bool machine_somebody_is_unharmed(void)
{
	for (unsigned long i = 0; i < ARRAY_SIZE(frames); i++)
		if (frames[i].owner == &somebody && (frames[i].count != 1 || !frames[i].allocated || frames[i].mapped))
			return false;
	return true;
}

struct page_info *alloc_domheap_pages(struct domain *d, unsigned int order,
				      unsigned int memflags)
{
	nodeid_t node = (memflags >> 8) - 1;
	unsigned long size = 1UL << order;
	bool is_extra = memflags & MEMF_no_refcount;
	long at;

	assert(!test_locks_held && !machine_gfns_locked);
	dies(d);
	machine_asked++;
	if (d->is_dying || order > MAX_ORDER || (!is_extra && domain_tot_pages(d) + size > d->max_pages) ||
	    oom_strikes(OOM_FRAMES) || avail_unclaimed_pages(is_extra ? NULL : d) < size)
		return NULL;

	if (node == NUMA_NO_NODE)
		node = 0;
	else
		assert(memflags & MEMF_exact_node && nodemask_test(node, &node_online_map));

	if (avail[node] < size)
		return NULL;
	at = find_block(node, order, node ? 0 : machine_dma_pages);
	if (at < 0 && !(memflags & MEMF_no_dma))
		at = find_block(node, order, 0);
	if (at < 0)
		return NULL;
	for (unsigned long i = at; i < at + size; i++) {
		is_free[i] = false;
		frames[i] = (struct page_info){ .owner = d, .count = 1, .allocated = true, .extra = is_extra, .m2p = INVALID_M2P_ENTRY };
	}
	avail[node] -= size;
	owned += size;
	extra += is_extra ? size : 0;
	machine_claimed -= min(machine_own_claim, size);
	machine_own_claim -= min(machine_own_claim, size);
	return &frames[at];
}

static void free_frame(struct page_info *pg)
{
	unsigned long mfn = pg - frames;
	struct domain *d = pg->owner;

	assert(!pg->mapped && !pg->types);
	extra -= pg->extra;
	*pg = (struct page_info){ .m2p = INVALID_M2P_ENTRY };
	owned--;
	if (machine_reuses && !d->is_dying && rnd(2)) {
		*pg = (struct page_info){ .owner = d, .count = 1, .allocated = true, .of_another_vcpu = true, .m2p = INVALID_M2P_ENTRY };
		return;
	}
	is_free[mfn] = true;
	avail[machine_node_of(mfn)]++;
}

bool get_page(struct page_info *pg, const struct domain *d)
{
	if (!pg->count || pg->owner != d)
		return false;
	pg->count++;
	return true;
}

void put_page(struct page_info *pg)
{
	assert(pg->count && pg->owner != &somebody);
	if (!--pg->count)
		free_frame(pg);
}

/* Whoever calls it holds a reference besides. */
void put_page_alloc_ref(struct page_info *pg)
{
	assert(pg->owner != &somebody && !pg->of_another_vcpu);
	if (!pg->allocated)
		return;
	pg->allocated = false;
	assert(pg->count >= 2);
	put_page(pg);
}

unsigned long get_gpfn_from_mfn(unsigned long mfn)
{
	return frames[mfn].m2p;
}

mfn_t page_to_mfn(const struct page_info *pg)
{
	return (mfn_t){ pg - frames };
}

struct page_info *mfn_to_page(mfn_t mfn)
{
	return &frames[mfn.mfn];
}

static void map_page(unsigned long gfn, unsigned long mfn, unsigned int order)
{
	assert(frames[mfn].owner && frames[mfn].owner != &somebody && !frames[mfn].mapped && !frames[mfn].extra);
	assert(!p2m[gfn].present);
	frames[mfn].mapped = true;
	frames[mfn].m2p = gfn;
	p2m[gfn] = (struct p2m_entry){ true, mfn, order, false };
}

static void unmap_page(unsigned long gfn)
{
	frames[p2m[gfn].mfn].mapped = false;
	frames[p2m[gfn].mfn].m2p = INVALID_M2P_ENTRY;
	p2m[gfn].present = false;
}

/* Of the entry in the tables. */
static unsigned int entry_order(unsigned long gfn)
{
	return p2m[gfn].present && p2m[gfn].order >= 9 ? 9 : 0;
}

/* The entry is divided, if it is larger than @order. */
static bool can_divide(unsigned long gfn, unsigned int order)
{
	if (entry_order(gfn) <= order)
		return true;
	if (!machine_p2m_pages)
		return false;
	machine_p2m_pages -= machine_p2m_pages > 0;
	gfn &= ~511UL;
	for (unsigned int i = 0; i < 512; i++)
		p2m[gfn + i].order = 0;
	return true;
}

static bool p2m_fails(void)
{
	return oom_strikes(OOM_TABLES) || rnd(1000) < machine_p2m_fail_percent;
}

mfn_t get_gfn_type_access(struct domain *d, unsigned long gfn, p2m_type_t *t, p2m_access_t *a, int q, unsigned int *order)
{
	(void)d;
	assert(!test_locks_held && !q);
	*a = p2m_access_rwx;
	machine_gfns_locked++;
	*order = entry_order(gfn);
	*t = !p2m[gfn].present ? p2m_invalid : p2m[gfn].untouched ? p2m_populate_on_demand : p2m_ram_rw;
	return *t == p2m_ram_rw ? (mfn_t){ p2m[gfn].mfn } : INVALID_MFN;
}

void put_gfn(struct domain *d, unsigned long gfn)
{
	(void)d;
	(void)gfn;
	assert(machine_gfns_locked > 0);
	machine_gfns_locked--;
}

int guest_physmap_add_page(struct domain *d, gfn_t gfn, mfn_t mfn, unsigned int order)
{
	unsigned long i, nr = 1UL << order;
	int rc = 0;

	assert(!test_locks_held);
	assert(gfn.gfn + (1UL << order) <= P2M_PAGES);
	dies(d);
	if (d->is_dying)
		return -ENOMEM;

	/* Some of it may be mapped nevertheless. */
	if (p2m_fails()) {
		nr = order > 9 ? rnd(nr >> 9) << 9 : rnd(2) ? nr : 0;
		rc = -ENOMEM;
	}

	for (i = 0; i < nr; i++)
		map_page(gfn.gfn + i, mfn.mfn + i, order);
	return rc;
}

int guest_physmap_remove_page(struct domain *d, gfn_t gfn, mfn_t mfn, unsigned int order)
{
	(void)d;
	assert(!test_locks_held);
	for (unsigned int i = 0; i < 1U << order; i++) {
		const struct p2m_entry *e = &p2m[gfn.gfn + i];

		if (e->present && !e->untouched && e->mfn != mfn.mfn + i)
			return -EILSEQ;
	}
	if (machine_stays_mapped || !can_divide(gfn.gfn, order))
		return -ENOMEM;
	for (unsigned int i = 0; i < 1U << order; i++)
		if (p2m[gfn.gfn + i].present) {
			assert(!p2m[gfn.gfn + i].untouched);
			unmap_page(gfn.gfn + i);
		}
	return 0;
}

struct numa_work;
void numa_work_free(struct numa_work *w);

/* Where nothing is moved, there is none to free. */
__attribute__((weak)) void numa_work_free(struct numa_work *w)
{
	assert(!w);
}

void numa_sampling_teardown(struct domain *d);

/* Where nothing is sampled. */
__attribute__((weak)) void numa_sampling_teardown(struct domain *d)
{
	(void)d;
}

bool machine_one_by_one;
unsigned int machine_filled;

int p2m_numa_fill(struct domain *d, gfn_t gfn, const mfn_t mfns[])
{
	test_takes_p2m_lock();
	if (machine_one_by_one || gfn.gfn % 512)
		return -EOPNOTSUPP;
	for (unsigned int i = 0; i < 512; i++)
		if (p2m[gfn.gfn + i].present)
			return -EOPNOTSUPP;
	dies(d);
	if (d->is_dying || p2m_fails())
		return -ENOMEM;

	machine_filled++;
	for (unsigned int i = 0; i < 512; i++)
		map_page(gfn.gfn + i, mfns[i].mfn, 0);
	return 0;
}

int machine_may_be_untouched;
bool machine_may_use_altp2m;

int p2m_numa_untouched_init(struct domain *d, bool any_time)
{
	(void)d;
	assert(!test_locks_held && any_time);
	return machine_may_be_untouched;
}

bool p2m_numa_may_use_altp2m(const struct domain *d)
{
	(void)d;
	return machine_may_use_altp2m;
}

int p2m_numa_add_untouched(struct domain *d, gfn_t gfn, struct page_info *pg, unsigned int order)
{
	assert(!test_locks_held && !(gfn.gfn & ((1UL << order) - 1)));
	dies(d);
	if (d->is_dying)
		return -ESRCH;
	for (unsigned int i = 0; i < 1U << order; i++)
		if (p2m[gfn.gfn + i].present)
			return -EBUSY;
	if (oom_strikes(OOM_TABLES))
		return -ENOMEM;
	for (unsigned int i = 0; i < 1U << order; i++) {
		map_page(gfn.gfn + i, pg - frames + i, order);
		p2m[gfn.gfn + i].untouched = true;
	}
	return 0;
}

static void free_page_of(struct domain *d, struct page_info *pg)
{
	assert(get_page(pg, d));
	put_page_alloc_ref(pg);
	put_page(pg);
}

unsigned long p2m_pod_decrease_reservation(struct domain *d, gfn_t gfn, unsigned int order)
{
	unsigned long nr = 0;

	assert(!test_locks_held);
	for (unsigned long g = gfn.gfn; g < gfn.gfn + (1UL << order); g++) {
		if (!p2m[g].present || !p2m[g].untouched)
			continue;
		unmap_page(g);
		free_page_of(d, &frames[p2m[g].mfn]);
		nr++;
	}
	return nr;
}

int guest_remove_page(struct domain *d, unsigned long gfn)
{
	assert(!test_locks_held);
	if (!p2m[gfn].present)
		return -ENOENT;
	/* no frame is there that could be removed */
	if (p2m[gfn].untouched)
		return -EINVAL;
	if (!can_divide(gfn, 0))
		return -ENOMEM;
	unmap_page(gfn);
	free_page_of(d, &frames[p2m[gfn].mfn]);
	return 0;
}

bool hypercall_preempt_check(void)
{
	if (machine_meanwhile)
		machine_meanwhile();
	return rnd(100) < machine_preempt_percent;
}
