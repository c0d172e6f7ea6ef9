/* A heap without buddies and a p2m without tables, too simple to be wrong. */
#include <time.h>

#include "machine.h"

static struct page_info frames[MAX_NUMNODES * NODE_PAGES];
static bool is_free[MAX_NUMNODES * NODE_PAGES];
static unsigned long avail[MAX_NUMNODES], spanned[MAX_NUMNODES];
static unsigned long owned;

struct p2m_entry p2m[P2M_PAGES];
nodemask_t node_online_map;
unsigned int test_distance[MAX_NUMNODES][MAX_NUMNODES];
int test_locks_held;
int test_allocations = -1;
struct vcpu *current;
void (*machine_meanwhile)(void);
void (*machine_at_barrier)(void);
unsigned int machine_preempt_percent, machine_p2m_fail_percent;

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
	owned = 0;
	node_online_map.bits[0] = 0;
	memset(frames, 0, sizeof(frames));
	memset(is_free, 0, sizeof(is_free));
	memset(p2m, 0, sizeof(p2m));

	for (unsigned int n = 0; n < nodes; n++) {
		assert(pages[n] <= NODE_PAGES);
		node_set(n, node_online_map);
		spanned[n] = avail[n] = pages[n];
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
	for (unsigned long i = node * NODE_PAGES; i < node * NODE_PAGES + spanned[node]; i++)
		if (is_free[i] && rnd(100) < percent) {
			is_free[i] = false;
			avail[node]--;
		}
}

unsigned long machine_owned(void)
{
	return owned;
}

unsigned long node_spanned_pages(nodeid_t node)
{
	return spanned[node];
}

unsigned long avail_node_heap_pages(unsigned int node)
{
	return avail[node];
}

unsigned int domain_tot_pages(const struct domain *d)
{
	(void)d;
	return machine_owned();
}

static long find_block(nodeid_t node, unsigned int order)
{
	unsigned long size = 1UL << order, base = node * NODE_PAGES;

	for (unsigned long i = 0; i + size <= spanned[node]; i += size) {
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
	return avail[node] >> order && find_block(node, order) >= 0;
}

struct page_info *alloc_domheap_pages(struct domain *d, unsigned int order,
				      unsigned int memflags)
{
	nodeid_t node = (memflags >> 8) - 1;
	unsigned long size = 1UL << order;
	long at;

	assert(!test_locks_held);
	if (machine_owned() + size > d->max_pages)
		return NULL;

	if (node == NUMA_NO_NODE)
		node = 0;
	else
		assert(memflags & MEMF_exact_node && nodemask_test(node, &node_online_map));

	if (avail[node] < size)
		return NULL;
	at = find_block(node, order);
	if (at < 0)
		return NULL;
	for (unsigned long i = at; i < at + size; i++) {
		is_free[i] = false;
		frames[i].owned = 1;
	}
	avail[node] -= size;
	owned += size;
	return &frames[at];
}

void put_page_alloc_ref(struct page_info *pg)
{
	unsigned long mfn = pg - frames;

	assert(pg->owned && !pg->mapped);
	pg->owned = 0;
	owned--;
	is_free[mfn] = true;
	avail[machine_node_of(mfn)]++;
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
	assert(frames[mfn].owned && !frames[mfn].mapped);
	assert(!p2m[gfn].present);
	frames[mfn].mapped = 1;
	p2m[gfn] = (struct p2m_entry){ true, mfn, order, false };
}

int guest_physmap_add_page(struct domain *d, gfn_t gfn, mfn_t mfn, unsigned int order)
{
	assert(!test_locks_held);
	assert(gfn.gfn + (1UL << order) <= P2M_PAGES);
	(void)d;

	if (!order && rnd(1000) < machine_p2m_fail_percent)
		return -ENOMEM;

	for (unsigned long i = 0; i < 1UL << order; i++)
		map_page(gfn.gfn + i, mfn.mfn + i, order);
	return 0;
}

struct numa_work;
void numa_work_free(struct numa_work *w);

/* Nothing is moved here, so there is none to free. */
void numa_work_free(struct numa_work *w)
{
	assert(!w);
}

void numa_sampling_teardown(struct domain *d);

/* Nothing is sampled here. */
void numa_sampling_teardown(struct domain *d)
{
	(void)d;
}

bool machine_one_by_one;
unsigned int machine_filled;

int p2m_numa_fill(struct domain *d, gfn_t gfn, const mfn_t mfns[])
{
	if (machine_one_by_one || gfn.gfn % 512)
		return -EOPNOTSUPP;
	for (unsigned int i = 0; i < 512; i++)
		if (p2m[gfn.gfn + i].present)
			return -EOPNOTSUPP;
	if (rnd(1000) < machine_p2m_fail_percent)
		return -ENOMEM;

	machine_filled++;
	for (unsigned int i = 0; i < 512; i++)
		map_page(gfn.gfn + i, mfns[i].mfn, 0);
	return 0;
}

int machine_may_be_untouched;

int p2m_numa_untouched_init(struct domain *d)
{
	(void)d;
	assert(!test_locks_held);
	return machine_may_be_untouched;
}

int p2m_numa_add_untouched(struct domain *d, gfn_t gfn, struct page_info *pg, unsigned int order)
{
	(void)d;
	assert(!test_locks_held && !(gfn.gfn & ((1UL << order) - 1)));
	for (unsigned int i = 0; i < 1U << order; i++)
		if (p2m[gfn.gfn + i].present)
			return -EBUSY;
	for (unsigned int i = 0; i < 1U << order; i++) {
		map_page(gfn.gfn + i, pg - frames + i, order);
		p2m[gfn.gfn + i].untouched = true;
	}
	return 0;
}

unsigned long p2m_pod_decrease_reservation(struct domain *d, gfn_t gfn, unsigned int order)
{
	assert(!order);
	return p2m[gfn.gfn].present && p2m[gfn.gfn].untouched && !guest_remove_page(d, gfn.gfn);
}

int guest_remove_page(struct domain *d, unsigned long gfn)
{
	(void)d;
	assert(!test_locks_held);
	if (!p2m[gfn].present)
		return -ENOENT;
	frames[p2m[gfn].mfn].mapped = 0;
	put_page_alloc_ref(&frames[p2m[gfn].mfn]);
	p2m[gfn].present = false;
	return 0;
}

bool hypercall_preempt_check(void)
{
	if (machine_meanwhile)
		machine_meanwhile();
	return rnd(100) < machine_preempt_percent;
}
