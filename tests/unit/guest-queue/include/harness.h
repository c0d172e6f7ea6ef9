/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Just enough of Linux for the queue to run in user space, with CPUs that run
 * one at a time, and change at every lock and every access that could race, in
 * an order that follows from SEED; or, with FREE_RUNNING, are threads, in the
 * order that the machine has, for ThreadSanitizer to look at.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define __ffs(word)	((unsigned int)__builtin_ctzl(word))
#define GENMASK(h, l)	((~0UL << (l)) & (~0UL >> (63 - (h))))
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))

#define MAX_PAGE_ORDER	6
#define XENMEM_PAGE_EVENT_ORDER_SHIFT 52
#define XENMEM_PAGE_EVENT_RELEASED BIT_ULL(63)

/* A seeded generator; SEED= in the environment replays a run. */
uint64_t test_seed(void);
void test_reseed(uint64_t seed);
unsigned int rnd(unsigned int below);

/* Ends the program, with the seed; for what cmocka cannot catch in a thread. */
void test_die(const char *why);
#define MUST(x) ((x) ? (void)0 : test_die(#x))

/* CPUs. */
#define NR_CPUS 6
void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu));
extern __thread unsigned int this_cpu;
extern __thread bool irqs_off;
/* Called now and then on a CPU whose interrupts are on. */
extern void (*interrupt)(void);
/* Another CPU may go on from here. */
void cpu_switch(void);

/* Locks. */
typedef struct {
#ifdef FREE_RUNNING
	pthread_mutex_t mutex;
#else
	unsigned int holder;	/* CPU + 1 */
#endif
} spinlock_t;
extern __thread unsigned long locks_taken;

void spin_lock_init(spinlock_t *l);
void spin_lock(spinlock_t *l);
void spin_unlock(spinlock_t *l);
#define spin_lock_irqsave(l, flags) \
	((flags) = irqs_off, irqs_off = true, spin_lock(l))
#define spin_unlock_irqrestore(l, flags) \
	(spin_unlock(l), irqs_off = (flags))

#define READ_ONCE(x) \
	(cpu_switch(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define smp_load_acquire(p) \
	(cpu_switch(), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define smp_store_release(p, v) \
	(cpu_switch(), __atomic_store_n(p, v, __ATOMIC_RELEASE))

#endif /* HARNESS_H */
