/* SPDX-License-Identifier: GPL-2.0-only */
/* As much of Linux as free page reporting and the driver need, strict where a mistake of theirs would show. */
#ifndef LINUX_H
#define LINUX_H

#include "harness.h"

#include <limits.h>

#define CONFIG_PAGE_REPORTING

typedef uint64_t u64;
typedef uint32_t u32;

/* compiler.h, minmax.h, bits.h, … */
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define min(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define BIT_ULL(n)	(1ULL << (n))
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#define READ_ONCE(x)	(cpu_switch(), *(volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (cpu_switch(), *(volatile typeof(x) *)&(x) = (v))
#define xchg(p, v)	({ cpu_switch(); typeof(*(p)) old_ = *(p); *(p) = (v); old_; })
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define IS_ENABLED(x)	0
#define __init

/* atomic.h */
typedef struct { int counter; } atomic_t;
#define atomic_read(a)		READ_ONCE((a)->counter)
#define atomic_set(a, v)	WRITE_ONCE((a)->counter, v)
#define atomic_xchg(a, v)	xchg(&(a)->counter, v)
#define atomic_cmpxchg(a, o, n)	({ cpu_switch(); int old_ = (a)->counter; if (old_ == (o)) (a)->counter = (n); old_; })

/* types.h; list.h itself is Linux's */
struct list_head { struct list_head *next, *prev; };
struct hlist_head { struct hlist_node *first; };
struct hlist_node { struct hlist_node *next, **pprev; };
#define LIST_POISON1 ((void *)0x100)
#define LIST_POISON2 ((void *)0x122)
#define smp_store_release(p, v) WRITE_ONCE(*(p), v)
#define smp_load_acquire(p) READ_ONCE(*(p))

/* spinlock.h */
#define spin_lock_irq(l)	(MUST(!me->irqs_off), me->irqs_off = true, spin_lock(l))
#define spin_unlock_irq(l)	(MUST(me->irqs_off), spin_unlock(l), me->irqs_off = false)
#define spin_lock_irqsave(l, flags) ((flags) = me->irqs_off, me->irqs_off = true, spin_lock(l))
#define spin_unlock_irqrestore(l, flags) (spin_unlock(l), me->irqs_off = (flags))

/* mutex.h, lockdep.h */
struct mutex { unsigned int holder; };
#define DEFINE_MUTEX(name) struct mutex name
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
#define lockdep_is_held(m) ((m)->holder == this_cpu + 1)

/* rcupdate.h */
#define __rcu
#define __read_mostly
#define rcu_read_lock()		((void)me->readers++)
#define rcu_read_unlock()	((void)me->readers--)
#define rcu_dereference(p)	(MUST(me->readers), READ_ONCE(p))
#define rcu_dereference_protected(p, c) (MUST(c), (p))
#define rcu_access_pointer(p) (p)		/* compared only: needs no lock */
#define rcu_assign_pointer(p, v) WRITE_ONCE(p, v)
#define RCU_INIT_POINTER(p, v)	WRITE_ONCE(p, v)
void synchronize_rcu(void);

/* jump_label.h */
struct static_key_false { bool on; };
#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name
#define static_branch_unlikely(k) READ_ONCE((k)->on)
#define static_key_enabled(k)	((k)->on)
#define static_branch_enable(k)	(MUST(can_sleep()), WRITE_ONCE((k)->on, true))
#define static_branch_disable(k) (MUST(can_sleep()), WRITE_ONCE((k)->on, false))

/* jiffies.h */
#define HZ 100
#define usecs_to_jiffies(us) ((unsigned long)(us) / (1000000 / HZ))
#define msecs_to_jiffies(ms) ((unsigned long)(ms) / (1000 / HZ))

/* irq_work.h */
struct irq_work { void (*func)(struct irq_work *); bool queued, running; struct irq_work *next; };
#define IRQ_WORK_INIT_LAZY(fn) (struct irq_work){ .func = fn }
#define IRQ_WORK_INIT_HARD(fn) IRQ_WORK_INIT_LAZY(fn)
bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

/* workqueue.h */
struct work_struct { void (*func)(struct work_struct *); bool pending, running, canceled; struct work_struct *next; };
struct delayed_work { struct work_struct work; };
struct workqueue_struct { struct work_struct *all; };
extern struct workqueue_struct *system_freezable_wq, *system_unbound_wq;
#define DECLARE_WORK(name, fn) struct work_struct name = { .func = fn }
#define DECLARE_DELAYED_WORK(name, fn) struct delayed_work name = { .work.func = fn }
#define INIT_DELAYED_WORK(w, fn) ((w)->work = (struct work_struct){ .func = fn })
#define to_delayed_work(w) container_of(w, struct delayed_work, work)
#define work_pending(w) READ_ONCE((w)->pending)
bool queue_work(struct workqueue_struct *wq, struct work_struct *w);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay);
bool flush_delayed_work(struct delayed_work *w);
bool cancel_delayed_work_sync(struct delayed_work *w);
extern unsigned int rescheds;
#define cond_resched() (MUST(can_sleep()), rescheds++, cpu_switch())

/* freezer.h */
#define CONFIG_FREEZER
extern bool pm_nosig_freezing;

/* slab.h */
#define GFP_KERNEL 0
void *kmalloc_array(size_t n, size_t size, int flags);
#define kfree(p) free(p)

/* moduleparam.h, export.h, printk.h */
struct kernel_param { int unused; };
struct kernel_param_ops { int (*set)(const char *, const struct kernel_param *); int (*get)(char *, const struct kernel_param *); };
int param_set_uint_minmax(const char *val, const struct kernel_param *kp, unsigned int lo, unsigned int hi);
int param_get_int(char *val, const struct kernel_param *kp);
#define module_param_cb(name, ops, arg, perm) static const void *const name##_param[] __attribute__((unused)) = { ops, arg }
#define module_param(name, type, perm) type *const name##_param = &(name)
typedef unsigned int uint;
#define MODULE_PARM_DESC(name, what) extern int name##_desc_
#define EXPORT_SYMBOL_GPL(name) extern int name##_exported_
#define pr_info(...)	((void)0)
#define pr_warn(...)	((void)0)
#define pr_warn_once(...) ((void)0)
#define pr_err(...)	((void)0)

/* mmzone.h, mm.h */
#ifndef MAX_PAGE_ORDER
#define MAX_PAGE_ORDER	6
#endif
#define NR_PAGE_ORDERS	(MAX_PAGE_ORDER + 1)
#define PAGE_SIZE	4096UL
#define pageblock_order	4
enum { MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, MIGRATE_ISOLATE, MIGRATE_TYPES };
#define is_migrate_isolate(mt) ((mt) == MIGRATE_ISOLATE)
#define ALLOC_CMA 0
enum { ZONE_BELOW_HIGH };
#define test_bit(n, word) (!!(*(word) & (1UL << (n))))

struct page {
	union { struct list_head lru, buddy_list, pcp_list; };
	bool buddy, reported;
	unsigned int order;
	int _last_cpupid;
	/* what is in the page, and what its owner put there; 0: no owner */
	uint64_t content, owned;
	bool mapped;
};
struct free_area { struct list_head free_list[MIGRATE_TYPES]; unsigned long nr_free; };
struct zone {
	spinlock_t lock;
	bool divided;
	unsigned long flags;
	struct free_area free_area[NR_PAGE_ORDERS];
};
extern struct zone zones[];
extern unsigned int nr_zones;
#define for_each_zone(z) for (z = zones; z < zones + nr_zones; z++)
#define for_each_populated_zone for_each_zone
unsigned long page_to_pfn(const struct page *page);
int get_pageblock_migratetype(const struct page *page);
bool PageReported(struct page *page);
void __SetPageReported(struct page *page);
void __ClearPageReported(struct page *page);
#define PageBuddy(p) ((p)->buddy)
#define buddy_order(p) ((p)->order)
unsigned int get_order(unsigned long size);
unsigned long low_wmark_pages(const struct zone *zone);
bool zone_watermark_ok(struct zone *zone, unsigned int order, unsigned long mark, int highest, int flags);
int __isolate_free_page(struct page *page, unsigned int order);
void __putback_isolated_page(struct page *page, unsigned int order, int mt);
void drain_all_pages(struct zone *zone);

/* scatterlist.h */
struct scatterlist { struct page *page; unsigned int length; bool last; };
void sg_init_table(struct scatterlist *sg, unsigned int nents);
void sg_set_page(struct scatterlist *sg, struct page *page, unsigned int len, unsigned int offset);
struct scatterlist *sg_next(struct scatterlist *sg);
struct page *sg_page(struct scatterlist *sg);
#define for_each_sg(list, sg, nr, i) for (i = 0, sg = (list); i < (nr); i++, sg = sg_next(sg))

#include <linux/list.h>

#endif /* LINUX_H */
