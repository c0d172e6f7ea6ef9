/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Just enough of Xen for xen/common/numa-policy to run in user space: a heap of
 * page frames on nodes, and a p2m, both so simple that they can be looked at.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>

#include "oom.h"

#ifndef ERESTART
#define ERESTART 85
#endif

#define __XEN_TOOLS__
#define BITS_PER_BYTE 8
#define PRI_gfn "05lx"

typedef uint8_t nodeid_t;

#define MAX_NUMNODES 64
#define NUMA_NO_NODE 0xFF
#define MAX_ORDER    20
#define PAGE_SHIFT   12
#define PAGE_SIZE    (1UL << PAGE_SHIFT)
#define BITS_PER_LONG 64
#define _AC(x, suffix) x ## suffix

#define cf_check
#define __init
#define __ro_after_init
extern int (*const test_param)(const char *value);
extern const char *const test_param_name;
#define custom_param(name, fn) \
	int (*const test_param)(const char *) = (fn); \
	const char *const test_param_name = (name)

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define ROUNDUP(x, a) (((x) + (a) - 1) / (a) * (a))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define IS_ALIGNED(x, a) (((x) & ((a) - 1)) == 0)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define ACCESS_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define min_t(t, a, b) min((t)(a), (t)(b))
#define unlikely(x) (x)
#define ASSERT(x) assert(x)
#define xchg(p, new) __atomic_exchange_n(p, new, __ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new) __extension__({ __typeof__(*(p)) was_ = (old); __atomic_compare_exchange_n(p, &was_, new, false, \
	__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); was_; })
#define flsl(x) ((x) ? BITS_PER_LONG - __builtin_clzl(x) : 0)

#define DECLARE_BITMAP(name, bits) unsigned long name[DIV_ROUND_UP(bits, BITS_PER_LONG)]
static inline void __set_bit(unsigned int bit, unsigned long *map) { map[bit / BITS_PER_LONG] |= 1UL << bit % BITS_PER_LONG; }
static inline unsigned int find_next_zero_bit(const unsigned long *map, unsigned int size, unsigned int bit)
{
	while (bit < size && map[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1)
		bit++;
	return bit;
}
#define find_first_zero_bit(map, size) find_next_zero_bit(map, size, 0)

#define printk printf
#define gdprintk(lvl, ...) do { } while (0)
#define XENLOG_DEBUG
#define XENLOG_G_INFO

typedef struct { unsigned long gfn; } gfn_t;
typedef struct { unsigned long mfn; } mfn_t;

#define INVALID_GFN ((gfn_t){ ~0UL })
#define INVALID_MFN ((mfn_t){ ~0UL })
static inline bool mfn_eq(mfn_t a, mfn_t b) { return a.mfn == b.mfn; }
static inline gfn_t _gfn(unsigned long n) { return (gfn_t){ n }; }
static inline unsigned long gfn_x(gfn_t g) { return g.gfn; }
static inline gfn_t gfn_add(gfn_t g, unsigned long i) { return _gfn(g.gfn + i); }
static inline mfn_t mfn_add(mfn_t m, unsigned long i) { return (mfn_t){ m.mfn + i }; }
static inline unsigned long mfn_x(mfn_t m) { return m.mfn; }
static inline bool gfn_eq(gfn_t a, gfn_t b) { return a.gfn == b.gfn; }

/* Nodes. */
typedef struct { unsigned long bits[1]; } nodemask_t;

#define nodemask_bits(m)       ((m)->bits)
#define NODE_MASK_ALL          ((nodemask_t){ { ~0UL } })
#define nodes_clear(m)         ((m).bits[0] = 0)
#define nodes_and(m, a, b)     ((m).bits[0] = (a).bits[0] & (b).bits[0])
#define nodes_empty(m)         (!(m).bits[0])
#define nodes_equal(a, b)      ((a).bits[0] == (b).bits[0])
#define nodes_weight(m)        __builtin_popcountl((m).bits[0])
#define node_set(n, m)         ((m).bits[0] |= 1UL << (n))
#define node_clear(n, m)       ((m).bits[0] &= ~(1UL << (n)))
#define nodemask_test(n, m)    ((m)->bits[0] >> (n) & 1)
#define last_node(m)           (BITS_PER_LONG - 1 - __builtin_clzl((m).bits[0]))
#define first_node(m)          ((m).bits[0] ? __builtin_ctzl((m).bits[0]) : MAX_NUMNODES)
#define for_each_node_mask(n, m) \
	for ((n) = 0; (n) < MAX_NUMNODES; (n)++) \
		if (nodemask_test(n, &(m)))
#define NODEMASK_PR(m)         MAX_NUMNODES, (void *)nodemask_bits(m)

extern nodemask_t node_online_map;
extern unsigned int test_distance[MAX_NUMNODES][MAX_NUMNODES];
#define node_online(n)         nodemask_test(n, &node_online_map)
#define __node_distance(a, b)  test_distance[a][b]
unsigned long node_present_pages(nodeid_t node);
unsigned long avail_node_heap_pages(unsigned int node);
unsigned long avail_node_no_dma_pages(unsigned int node);
struct domain;
unsigned long avail_unclaimed_pages(const struct domain *d);

/* Locks: taken once, and nothing slow is done under one. */
typedef struct { int held; } spinlock_t;
extern int test_locks_held;

/* What takes the p2m's lock, under which others take these. */
#define test_takes_p2m_lock() assert(!test_locks_held)

#define spin_lock_init(l) ((l)->held = 0)
/* What another CPU does before. */
extern void (*machine_at_lock)(void);
/* Two are taken in one order only: by what the code calls them. */
void test_lock_order(const char *name);
#define spin_lock(l)      ((void)(machine_at_lock && (machine_at_lock(), true)), assert(!(l)->held), test_lock_order(#l), (l)->held = 1, \
	(void)test_locks_held++)
#define spin_unlock(l)    (assert((l)->held), (l)->held = 0, (void)test_locks_held--)
#define spin_trylock(l)   (!(l)->held && (test_lock_order(#l), (l)->held = 1, test_locks_held++, true))

/* Time, which does not pass, and what others do meanwhile. */
typedef int64_t s_time_t;
#define MILLISECS(n) ((s_time_t)((n) * 1000000ULL))
#define SECONDS(n)   ((s_time_t)((n) * 1000000000ULL))
s_time_t NOW(void);		/* the test's, where time passes */
struct timer { bool there; };
struct tasklet { bool there; };
/* The test's, where there are some. */
void init_timer(struct timer *timer, void (*fn)(void *), void *data, unsigned int cpu);
void set_timer(struct timer *timer, s_time_t expires);
void kill_timer(struct timer *timer);
void tasklet_init(struct tasklet *tasklet, void (*fn)(void *), void *data);
void tasklet_schedule_on_cpu(struct tasklet *tasklet, unsigned int cpu);
void tasklet_kill(struct tasklet *tasklet);
#define MICROSECS(n) ((s_time_t)((n) * 1000ULL))
#define tsc_ticks2ns(n) (n)
#define read_atomic(p)     __atomic_load_n(p, __ATOMIC_RELAXED)
#define write_atomic(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
/* What another CPU does there. */
extern void (*machine_at_barrier)(void);
#define smp_wmb()          (__atomic_thread_fence(__ATOMIC_RELEASE), machine_at_barrier ? machine_at_barrier() : (void)0)
#define smp_rmb()          __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_mb()           __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Memory: not with a lock held. */
#define test_alloc(size)  (assert(!test_locks_held), oom_alloc(size))
#define test_zalloc(size) (assert(!test_locks_held), oom_zalloc(size))
#define xvmalloc(t)  ((t *)test_alloc(sizeof(t)))
#define xvzalloc(t)  ((t *)test_zalloc(sizeof(t)))
#define xvzalloc_flex_struct(t, field, nr) \
	((t *)test_zalloc(offsetof(t, field) + (nr) * sizeof(((t *)0)->field[0])))
#define xvzalloc_array(t, nr) ((t *)test_zalloc(sizeof(t) * (nr)))
#define xvmalloc_array(t, nr) ((t *)test_alloc(sizeof(t) * (nr)))
#define xvfree(p)    oom_free(p)
#define xmalloc(t)   ((t *)test_alloc(sizeof(t)))
#define xzalloc_array(t, nr) ((t *)test_zalloc(sizeof(t) * (nr)))
#define xfree(p)     oom_free(p)
#define XVFREE(p)    (oom_free(p), (p) = NULL)

/* Domains. */
#define INVALID_M2P_ENTRY (~0UL)
struct domain;
struct page_info { struct domain *owner; union { unsigned int count, count_info; }; bool allocated, mapped, of_another_vcpu, extra; unsigned int types; unsigned long m2p; };
struct numa_policy;
struct domain {
	unsigned short domain_id;
	struct numa_policy *numa_policy;
	spinlock_t node_affinity_lock;
	nodemask_t node_affinity;
	bool auto_node_affinity;
	unsigned int max_pages, max_vcpus;
	struct vcpu **vcpu;
	bool hardware, hvm, is_dying;
	const struct vnuma_info *vnuma;
};
struct ibs_ring;
struct vcpu {
	struct domain *domain;
	unsigned int processor, vcpu_id;
	bool is_running;
	struct { struct ibs_ring *ibs_ring; } arch;
};
#define for_each_vcpu(d, v) for (unsigned int i_ = 0; i_ < (d)->max_vcpus; i_++) if (((v) = (d)->vcpu[i_]))
#define cpu_online(cpu) ((cpu) < MAX_NUMNODES)
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) per_cpu_ ## name
#define this_cpu(name) per_cpu_ ## name
#define domain_crash(d) ((d)->is_dying = true)
/* As many CPUs as there are nodes, and one that has none. */
#define cpu_to_node(cpu) ((cpu) < MAX_NUMNODES ? (nodeid_t)(cpu) : NUMA_NO_NODE)

extern struct vcpu *current;
#define smp_processor_id() (current->processor)
#define is_hardware_domain(d) ((d)->hardware)
#define is_hvm_domain(d)      ((d)->hvm)
unsigned int domain_tot_pages(const struct domain *d);

/* Heap and p2m. */
#define MEMF_no_refcount   (1U << 1)
#define PGC_count_mask     (~0U)
#define PGT_writable_page  1
#define MEMF_node(n)       ((((n) + 1U) & 0xff) << 8)
#define MEMF_no_dma        (1U << 3)
#define MEMF_exact_node    (1U << 4)
#define _MEMF_bits         24
#define MEMF_no_tlbflush   (1U << 6)
struct page_info *alloc_domheap_pages(struct domain *d, unsigned int order,
				      unsigned int memflags);
#define alloc_domheap_page(d, memflags) alloc_domheap_pages(d, 0, memflags)
bool get_page(struct page_info *pg, const struct domain *d);
#define get_page_and_type(pg, d, type) (get_page(pg, d) && ++(pg)->types)
#define put_page_and_type(pg) (assert((pg)->types), (pg)->types--, put_page(pg))
void put_page(struct page_info *pg);
void put_page_alloc_ref(struct page_info *pg);
unsigned long get_gpfn_from_mfn(unsigned long mfn);
mfn_t page_to_mfn(const struct page_info *pg);
struct page_info *mfn_to_page(mfn_t mfn);
nodeid_t mfn_to_nid(mfn_t mfn);
#define maddr_to_mfn(maddr) ((mfn_t){ (maddr) >> PAGE_SHIFT })
int guest_physmap_add_page(struct domain *d, gfn_t gfn, mfn_t mfn,
			   unsigned int order);
int guest_physmap_remove_page(struct domain *d, gfn_t gfn, mfn_t mfn,
			      unsigned int order) __attribute__((warn_unused_result));
typedef enum { p2m_invalid, p2m_ram_rw, p2m_ram_logdirty, p2m_populate_on_demand } p2m_type_t;
typedef enum { p2m_access_rwx } p2m_access_t;
#define p2m_get_hostp2m(d) (d)
/* Locks the gfn, until put_gfn(). */
mfn_t get_gfn_type_access(struct domain *d, unsigned long gfn, p2m_type_t *t,
			  p2m_access_t *a, int q, unsigned int *order);
static inline mfn_t get_gfn_query(struct domain *d, unsigned long gfn, p2m_type_t *t)
{
	p2m_access_t a;
	unsigned int order;

	return get_gfn_type_access(d, gfn, t, &a, 0, &order);
}
void put_gfn(struct domain *d, unsigned long gfn);
unsigned long p2m_pod_decrease_reservation(struct domain *d, gfn_t gfn,
					   unsigned int order);
int guest_remove_page(struct domain *d, unsigned long gfn);
bool hypercall_preempt_check(void);
bool softirq_pending(unsigned int cpu);		/* the test's */
unsigned long domain_get_maximum_gpfn(struct domain *d);
static inline void accumulate_tlbflush(bool *need, const struct page_info *pg,
				       uint32_t *timestamp)
{
	(void)pg;
	*need = true;
	*timestamp = 1;
}

/* Guest memory is ours. */
#define copy_from_guest(dst, hnd, nr) \
	(test_bad_handle((hnd).p) ? 1 : (memcpy(dst, (hnd).p, (nr) * sizeof(*(dst))), 0))
#define copy_to_guest(hnd, src, nr) \
	(test_bad_handle((hnd).p) ? 1 : (memcpy((hnd).p, src, (nr) * sizeof(*(src))), 0))
#define copy_from_guest_offset(dst, hnd, off, nr) \
	(test_bad_handle((hnd).p) ? 1 : (memcpy(dst, (hnd).p + (off), (nr) * sizeof(*(dst))), 0))
#define copy_to_guest_offset(hnd, off, src, nr) \
	(test_bad_handle((hnd).p) ? 1 : (memcpy((hnd).p + (off), src, (nr) * sizeof(*(src))), 0))
#define __copy_field_to_guest(hnd, src, field) (test_bad_handle((hnd).p) ? 1 : ((hnd).p->field = (src)->field, 0))
extern int machine_gfns_locked;
static inline bool test_bad_handle(const void *p)
{
	assert(!test_locks_held && !machine_gfns_locked);
	return !p;
}

#define XEN_GUEST_HANDLE_PARAM(name) XEN_GUEST_HANDLE(name)
#include <public/domctl.h>

#include <public/vcpu.h>

/* What sampling wants, too: the test's. */
void vcpu_runstate_get(const struct vcpu *v, struct vcpu_runstate_info *runstate);
void *vmap(const mfn_t *mfn, unsigned int nr);
void vunmap(const void *va);
void clear_domain_page(mfn_t mfn);
void clear_page(void *va);
#define XSM_OTHER 0
int xsm_domctl(int action, struct domain *d, struct xen_domctl *op);

/* By way of a copy, for which there may be no memory; @to changes only if all is well. */
static inline int xenctl_bitmap_to_bitmap(unsigned long *to, const struct xenctl_bitmap *from, unsigned int bits)
{
	unsigned int theirs = DIV_ROUND_UP(from->nr_bits, 8), nr = min(theirs, bits / 8);
	uint8_t *bytes = test_zalloc(bits / 8);
	int rc = 0;

	assert(bits == BITS_PER_LONG);
	if (!bytes)
		return -ENOMEM;
	if (nr && copy_from_guest(bytes, from->bitmap, nr))
		rc = -EFAULT;
	if (nr && from->nr_bits % 8 && theirs == nr)
		bytes[nr - 1] &= (1U << from->nr_bits % 8) - 1;
	if (!rc)
		memcpy(to, bytes, bits / 8);
	xfree(bytes);
	return rc;
}

/* What it has more bits for is zero. */
static inline int bitmap_to_xenctl_bitmap(struct xenctl_bitmap *to, const unsigned long *from, unsigned int bits)
{
	unsigned int theirs = DIV_ROUND_UP(to->nr_bits, 8), nr = min(theirs, bits / 8), i;
	uint8_t *bytes = test_alloc(bits / 8), zero = 0;
	int rc = 0;

	assert(bits == BITS_PER_LONG);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, from, bits / 8);
	if (nr && copy_to_guest(to->bitmap, bytes, nr))
		rc = -EFAULT;
	xfree(bytes);
	for (i = nr; !rc && i < theirs; i++)
		if (copy_to_guest_offset(to->bitmap, i, &zero, 1))
			rc = -EFAULT;
	return rc;
}

#endif /* HARNESS_H */
