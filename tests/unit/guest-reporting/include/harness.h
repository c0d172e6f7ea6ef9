/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that run one at a time, and change at every lock and every access that could race, in an order that follows from
 * SEED.  An interrupt comes where interrupts are on, and an NMI anywhere.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A seeded generator; SEED= in the environment replays a run. */
uint64_t test_seed(void);
void test_reseed(uint64_t seed);
unsigned int rnd(unsigned int below);

/* Ends the program, with the seed. */
void test_die(const char *why);
#define MUST(x) ((x) ? (void)0 : test_die(#x))

#define NR_CPUS 6
extern unsigned int this_cpu;
struct cpu {
	bool irqs_off, in_interrupt, in_nmi;
	unsigned int locks;	/* that it holds */
	unsigned int readers;	/* of RCU */
};
extern struct cpu cpus[NR_CPUS];
#define me (&cpus[this_cpu])
#define can_sleep() (!me->irqs_off && !me->in_interrupt && !me->in_nmi && !me->locks && !me->readers)

void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu));
extern void (*interrupt)(void), (*nmi)(void);
/* Another CPU may go on from here. */
void cpu_switch(void);
/* For who waits: dies when it takes too long. */
#define WAIT_WHILE(x) do { for (unsigned long spins_ = 0; (x); cpu_switch()) \
	if (++spins_ == 3000000) test_die("waits for ever: " #x); } while (0)

typedef struct { unsigned int holder; } spinlock_t;	/* CPU + 1 */
void spin_lock(spinlock_t *l);
bool spin_trylock(spinlock_t *l);
void spin_unlock(spinlock_t *l);
extern unsigned long locks_taken;
extern unsigned long steps;	/* since a test began: there is an end to it */

#endif /* HARNESS_H */
