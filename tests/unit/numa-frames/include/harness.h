/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Just enough of Xen for the mover and the reserve of arch/x86/mm: a heap of frames, each of which knows who owns it, whether others
 * have it in their TLBs, and whether somebody's content is left in it.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"

#define __XEN_TOOLS__
#include <public/hvm/params.h>

typedef uint8_t nodeid_t;

#define MAX_NUMNODES  8
#define NUMA_NO_NODE  0xFF
#define BITS_PER_LONG 64
#define PAGE_SHIFT    12
#define PAGE_SIZE     (1UL << PAGE_SHIFT)
#define PAGE_MASK     (~(PAGE_SIZE - 1))
#define PADDR_MASK    ((1UL << 52) - 1)
#define PAGE_ORDER_4K 0U
#define PAGE_ORDER_2M 9U
#define PAGETABLE_ORDER 9U
#define SUPERPAGE_PAGES 512UL
#define NR_POD_MRP_ENTRIES 32
#define L1_PAGETABLE_ENTRIES (1 << PAGETABLE_ORDER)
#define _PAGE_PRESENT (1UL << 0)
#define _PAGE_PSE     (1UL << 7)
#define PRI_gfn "05lx"

#define unlikely(x) (x)
#define likely(x)   (x)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define min_t(t, a, b) min((t)(a), (t)(b))
#define ASSERT(x) assert(x)
#define ASSERT_UNREACHABLE() abort()
#define BUILD_BUG_ON(x) _Static_assert(!(x), "")
#define flsl(x) ((x) ? BITS_PER_LONG - __builtin_clzl(x) : 0)
#define SWAP(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define BITS_TO_LONGS(bits) (((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]
static inline void __set_bit(unsigned int bit, unsigned long *map) { map[bit / 64] |= 1UL << bit % 64; }
static inline unsigned int find_next_zero_bit(const unsigned long *map, unsigned int size, unsigned int bit)
{
	while (bit < size && map[bit / 64] >> bit % 64 & 1)
		bit++;
	return bit;
}
#define find_first_zero_bit(map, size) find_next_zero_bit(map, size, 0)
/* The guest's CPUs go on before and after a change of an entry. */
void machine_guest(void);
#define write_atomic(p, v) (machine_guest(), *(p) = (v), machine_guest())
#define clear_bit(bit, p) (machine_guest(), (void)(*(p) &= ~(1UL << (bit))), machine_guest())
#define set_bit(bit, p) (machine_guest(), (void)(*(p) |= 1UL << (bit)), machine_guest())
#define ACCESS_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define smp_wmb() ((void)0)
#define smp_rmb() ((void)0)
#define smp_mb() ((void)0)
/* Who spins lets the other CPU go on. */
extern void (*machine_other_cpu)(void);
#define cpu_relax() (assert(machine_other_cpu), machine_other_cpu())
extern unsigned int machine_cpu;
#define DEFINE_PER_CPU(t, name) __typeof__(t) per_cpu__##name[2]
#define this_cpu(name) (per_cpu__##name[machine_cpu])
/* Who takes a page offline does so between a look and a change: the second one from now on. */
extern unsigned long *machine_offline;
void machine_take_offline(void *where);
#define cmpxchg(p, old, new) __extension__({ machine_take_offline(p); __typeof__(*(p)) was_ = *(p); if (was_ == (old)) *(p) = (new); was_; })

typedef struct { unsigned long gfn; } gfn_t;
typedef struct { unsigned long mfn; } mfn_t;
static inline gfn_t _gfn(unsigned long n) { return (gfn_t){ n }; }
static inline mfn_t _mfn(unsigned long n) { return (mfn_t){ n }; }
static inline unsigned long gfn_x(gfn_t g) { return g.gfn; }
static inline unsigned long mfn_x(mfn_t m) { return m.mfn; }
static inline gfn_t gfn_add(gfn_t g, unsigned long i) { return _gfn(g.gfn + i); }
static inline mfn_t mfn_add(mfn_t m, unsigned long i) { return _mfn(m.mfn + i); }
#define gfn_eq(a, b) ((a).gfn == (b).gfn)
#define INVALID_MFN _mfn(~0UL)
#define INVALID_GFN _gfn(~0UL)
#define INVALID_M2P_ENTRY (~0UL)
#define mfn_to_maddr(m) (mfn_x(m) << PAGE_SHIFT)
#define maddr_to_mfn(a) _mfn((a) >> PAGE_SHIFT)
#define PFN_DOWN(x) ((x) >> PAGE_SHIFT)
#define page_to_maddr(pg) mfn_to_maddr(page_to_mfn(pg))

typedef struct { unsigned long bits[1]; } nodemask_t;
#define NODE_MASK_NONE ((nodemask_t){ { 0 } })
extern nodemask_t node_online_map;
#define node_clear(n, m) ((m).bits[0] &= ~(1UL << (n)))
static inline bool test_and_set_node(unsigned int n, nodemask_t *m)
{
	bool was = m->bits[0] >> n & 1;

	m->bits[0] |= 1UL << n;
	return was;
}
#define node_test_and_set(n, m) test_and_set_node(n, &(m))
#define for_each_online_node(n) for ((n) = 0; (n) < MAX_NUMNODES; (n)++) if (node_online_map.bits[0] >> (n) & 1)

/* Frames. */
#define PGC_allocated     (1UL << 63)
#define PGC_xen_heap      (1UL << 62)
#define PGC_extra         (1UL << 61)
#define PGC_broken        (1UL << 60)
#define PGC_state_offlining (1UL << 57)
#define PGC_count_mask    ((1UL << 54) - 1)
#define PGT_type_mask     (7UL << 61)
#define PGT_writable_page (7UL << 61)
#define PGT_locked        (1UL << 60)
#define PGT_non_coherent  (1UL << 55)
#define PGT_count_mask    ((1UL << 55) - 1)

struct domain;
struct page_info {
	struct page_info *next, *prev;
	struct page_list_head *list;
	unsigned long count_info;
	union { struct { unsigned long type_info; } inuse; } u;
	struct domain *owner;
	bool is_free, need_tlbflush;	/* as the heap keeps it */
	bool is_offline;
	bool in_tlb;			/* of somebody else, who had it mapped */
	int content;			/* of the domain: above 0; cleared: 0; of somebody else: below 0 */
	bool uncached;			/* what is in the caches and in memory may differ */
	uint32_t tlbflush_timestamp;
	unsigned long m2p;
};
#define tlbflush_current_time() 1U
void filtered_flush_tlb_mask(uint32_t stamp);

struct page_list_head { struct page_info *head, *tail; };
#define PAGE_LIST_HEAD_INIT(l) { NULL, NULL }
#define PAGE_LIST_HEAD(l) struct page_list_head l = { NULL, NULL }
#define INIT_PAGE_LIST_HEAD(l) (*(l) = (struct page_list_head){ NULL, NULL })
#define page_list_empty(l) (!(l)->head)
#define page_list_for_each(pg, l) for ((pg) = (l)->head; (pg); (pg) = (pg)->next)
void page_list_add(struct page_info *pg, struct page_list_head *l);
void page_list_add_tail(struct page_info *pg, struct page_list_head *l);
void page_list_del(struct page_info *pg, struct page_list_head *l);
struct page_info *page_list_remove_head(struct page_list_head *l);
void page_list_splice(struct page_list_head *from, struct page_list_head *to);

#define page_get_owner(pg) ((pg)->owner)
/* Who owns a page can be made to show it. */
static inline void page_set_owner(struct page_info *pg, struct domain *d)
{
	assert(!d || (pg->content >= 0 && !pg->owner));
	pg->owner = d;
}
#define is_special_page(pg) ((pg)->count_info & (PGC_xen_heap | PGC_extra))
mfn_t page_to_mfn(const struct page_info *pg);
struct page_info *mfn_to_page(mfn_t mfn);
#define mfn_valid(m) (mfn_x(m) < FRAMES)
bool is_xen_heap_mfn(mfn_t mfn);
nodeid_t mfn_to_nid(mfn_t mfn);
#define page_to_nid(pg) mfn_to_nid(page_to_mfn(pg))
#define set_gpfn_from_mfn(mfn, gfn) (mfn_to_page(_mfn(mfn))->m2p = (gfn))

#ifndef NODE_PAGES
#define NODE_PAGES 4096UL
#endif
#define NODES 4U
#define FRAMES (NODES * NODE_PAGES)
#define DMA_PAGES 1024UL	/* at the beginning of node 0 */

/* As in xen/mm.h; which frames they get, heap.c says. */
#define MEMF_no_refcount 2U
#define MEMF_no_owner    (1U << 5)
#define MEMF_no_dma      (1U << 3)
#define MEMF_exact_node  (1U << 4)
#define MEMF_no_scrub    (1U << 8)
#define MEMF_node(n)     ((((n) + 1U) & 0xff) << 16)
struct page_info *alloc_domheap_pages(struct domain *d, unsigned int order, unsigned int memflags);
void free_domheap_pages(struct page_info *pg, unsigned int order);
void free_replaced_pages(struct page_info *pg, unsigned int order);
#define free_domheap_page(pg) free_domheap_pages(pg, 0)
unsigned long avail_node_heap_pages(unsigned int node);
unsigned long avail_node_no_dma_pages(unsigned int node);
unsigned long avail_unclaimed_pages(const struct domain *d);
unsigned long node_present_pages(nodeid_t node);

void clear_domain_page(mfn_t mfn);
void copy_domain_page(mfn_t to, mfn_t from);
void *__map_domain_page(const struct page_info *pg);
void *map_domain_page(mfn_t mfn);
void unmap_domain_page(const void *page);

/* Domains, with a p2m of single pages. */
typedef enum { p2m_ram_rw, p2m_invalid, p2m_ram_logdirty, p2m_ram_ro, p2m_mmio_dm, p2m_populate_on_demand } p2m_type_t;
#define p2m_is_ram(t) ((t) == p2m_ram_rw || (t) == p2m_ram_logdirty || (t) == p2m_ram_ro)
typedef enum { p2m_access_rwx } p2m_access_t;
#define p2m_is_any_ram(t) ((t) != p2m_mmio_dm)
#define p2m_is_pod(t) ((t) == p2m_populate_on_demand)
#define p2m_is_hole(t) ((t) == p2m_mmio_dm || (t) == p2m_invalid)
#define p2m_is_logdirty_range(p2m, start, end) false
#define P2M_ALLOC 1
typedef mfn_t pagetable_t;
struct p2m_reserve;
struct p2m_domain {
	struct domain *domain;
	unsigned int locked;
	bool batch_flush, need_flush, global_logdirty;
	p2m_access_t default_access;
	struct p2m_numa_usage *usage;
	pagetable_t phys_table;
	struct { struct p2m_reserve *reserve; bool locked, split; long entry_count, count; } pod;
	mfn_t (*get_entry)(struct p2m_domain *, gfn_t, p2m_type_t *, p2m_access_t *, int, unsigned int *, bool *);
};
struct domain {
	bool is_dying, page_alloc_lock;
	const struct vnuma_info *vnuma;
	struct page_list_head page_list;
	struct p2m_domain p2m;
	struct {
		struct { unsigned int total_pages, free_pages, p2m_pages; } paging;	/* of its page tables */
		struct { uint64_t params[HVM_NR_PARAMS]; } hvm;
	} arch;
};
#define P2M_PAGES 4096UL
#define ENTRY_DIRTY (1UL << 6)	/* of NPT; Xen sets it from the first */
extern struct entry { bool present; unsigned int order; uint64_t raw; } p2m_entries[P2M_PAGES];
#define p2m_get_hostp2m(d) ((struct p2m_domain *)&(d)->p2m)
#define p2m_has_reserve(p2m) ((p2m)->pod.reserve != NULL)
/* The p2m's is recursive, and is taken before that of PoD, and that before the one of the domain's pages. */
#define p2m_lock(p) (assert((!(p)->pod.locked && !(p)->domain->page_alloc_lock) || (p)->locked), (p)->locked++, (void)machine_locks++)
#define p2m_read_lock(p) p2m_lock(p)
#define p2m_read_unlock(p) p2m_unlock(p)
#define p2m_unlock(p) (assert((p)->locked), (p)->locked--, (void)machine_locks--)
#define pod_lock(p) (assert(!(p)->pod.locked && !(p)->domain->page_alloc_lock), (p)->pod.locked = true, (void)machine_locks++)
#define pod_unlock(p) (assert((p)->pod.locked), (p)->pod.locked = false, (void)machine_locks--)
#define pod_locked_by_me(p) ((p)->pod.locked)
#define nrspin_lock(l) (assert(!*(l)), *(l) = true)
#define nrspin_unlock(l) (assert(*(l)), *(l) = false)
#define pagetable_get_mfn(t) (t)
#define pagetable_is_null(t) (!mfn_x(t))
#define is_iommu_enabled(d) false
#define is_hvm_domain(d) true
#define hap_enabled(d) true
/* The look from which on its memory is shared, 0 for never. */
extern unsigned int machine_shared_at;
bool machine_is_shared(void);
extern bool hap_has_2mb, machine_has_ept;
#define using_vmx() machine_has_ept
#define altp2m_active(d) false
#define nestedhvm_enabled(d) false
#define mem_sharing_enabled(d) machine_is_shared()
#define mem_paging_enabled(d) false
#define domain_crash(d, ...) abort()
extern int (*machine_set_entry)(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t);
int p2m_set_entry(struct p2m_domain *p2m, gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t, p2m_access_t a);
void p2m_tlb_flush_sync(struct p2m_domain *p2m);
void p2m_numa_flush(struct p2m_domain *p2m);

typedef int64_t s_time_t;
s_time_t machine_now(void);
#define NOW() machine_now()
#define MICROSECS(us) ((s_time_t)(us) * 1000)
#define xvmalloc(t)  (assert(!machine_locks), (t *)oom_alloc(sizeof(t)))
#define xvzalloc(t)  (assert(!machine_locks), (t *)oom_zalloc(sizeof(t)))
#define xvfree(p)    oom_free(p)
#define XVFREE(p)    (oom_free(p), (p) = NULL)

nodeid_t numa_policy_touch(struct domain *d, gfn_t gfn, nodemask_t *home, unsigned int *grain);
void numa_policy_touched(struct domain *d, bool placed, unsigned int nr);
nodeid_t numa_policy_nearest(nodeid_t to, const nodemask_t *left, const nodemask_t *home);

#include <public/domctl.h>

/* p2m.h */
int p2m_numa_usage_init(struct p2m_domain *p2m);
void p2m_numa_usage_free(struct p2m_domain *p2m);
void p2m_numa_usage_check(struct p2m_domain *p2m);
void p2m_numa_usage_change(struct p2m_domain *p2m, uint64_t old, uint64_t new, unsigned int level);
void p2m_numa_count_pages(struct p2m_domain *p2m, const mfn_t mfns[], unsigned int nr);
void p2m_numa_count(struct p2m_domain *p2m, uint64_t old, uint64_t new, unsigned int level);
#define P2M_NUMA_COUNTED \
	((PADDR_MASK & PAGE_MASK) | _PAGE_PSE | _PAGE_PRESENT | (0x3fUL << 52))
void p2m_reserve_put(struct p2m_domain *p2m, struct page_info *pg, unsigned int order);
void p2m_reserve_hold(struct p2m_domain *p2m, struct page_info *pg, unsigned int order);
void p2m_reserve_admit(struct p2m_domain *p2m);
struct page_info *p2m_reserve_take(struct p2m_domain *p2m, unsigned int order);
struct page_info *p2m_reserve_touch(struct p2m_domain *p2m, gfn_t gfn, unsigned int order);
struct page_info *p2m_reserve_empty(struct p2m_domain *p2m, unsigned int *order);
bool p2m_reserve_remove(struct p2m_domain *p2m, struct page_info *page);
bool p2m_reserve_active(const struct p2m_domain *p2m);
void p2m_reserve_free(struct p2m_domain *p2m);
struct p2m_touch;
bool p2m_reserve_prepare(struct domain *d, struct p2m_touch *t);
bool p2m_reserve_return(struct p2m_domain *p2m, struct p2m_touch *t);
void p2m_reserve_put_back(struct p2m_domain *p2m, struct p2m_touch *t);
void p2m_reserve_wait(const struct p2m_domain *p2m, const struct p2m_touch *t);
/* p2m-pod.c: a test's own */
extern bool (*machine_populate_2m)(gfn_t gfn, struct page_info *pg);
bool p2m_pod_populate_2m(struct p2m_domain *p2m, gfn_t gfn, struct page_info *pg);

/* What a test may ask of the machine. */
extern struct domain dom;
extern nodeid_t machine_wanted;		/* the node that a touch wants */
extern unsigned int machine_grain;
extern unsigned long machine_placed;	/* pages that were touched, on that node */
/* How many locks are held, and pages that were cleared, allocated or freed meanwhile. */
extern unsigned int machine_locks;
extern unsigned long machine_locked_work;
void machine_reset(void);
/* Somebody's memory, all of it, is free now, not scrubbed yet. */
void machine_leave_dirty(nodeid_t node);
/* All but @pages of a node are in use. */
void machine_fill(nodeid_t node, unsigned long pages);
/* Each second page that devices do not need is in use. */
void machine_fragment(nodeid_t node);
/* The next one that is allocated is marked at once. */
extern bool machine_marks;
/* Free pages that other domains have claimed. */
extern unsigned long machine_claimed;
unsigned long machine_free(nodeid_t node);
unsigned long machine_free_for_dma(void);
unsigned long machine_owned(const struct domain *d);
/* Pages that were told to have come to a node, or left it. */
extern long machine_counted[NODES];
/* Pages for the domain, which are not on a list; each has been mapped by somebody, and unmapped without a flush. */
struct page_info *machine_give(nodeid_t node, unsigned int order);
/* On the domain's list. */
void machine_list(struct page_info *pg);
/*
 * A guest's CPU that writes and reads wherever the mover may be interrupted, by translations that it keeps as long as it can, and D bits
 * that it sets as NPT does.  What it should find is counted apart from what it finds.
 */
extern bool machine_guest_runs;
extern unsigned long machine_guest_writes, machine_guest_waits;
int machine_wanted_content(unsigned long gfn);
/* What moving takes: a copy of a page, a flush, and a change of an entry. */
extern s_time_t machine_time, machine_copy_takes, machine_flush_takes, machine_change_takes;
extern unsigned long machine_flushes, machine_copies, machine_slow_flush;	/* the one that takes a hundred times as long */
/* Who has TLB entries of what, or who can see whose content: nobody may. */
void machine_check(void);

#endif /* HARNESS_H */
