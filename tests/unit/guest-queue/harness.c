/* SPDX-License-Identifier: GPL-2.0-only */
#include "harness.h"

#include <sanitizer/common_interface_defs.h>
#include <time.h>
#include <ucontext.h>

/* xorshift64*, Vigna 2014; a state a CPU when they run freely */
#ifdef FREE_RUNNING
static __thread uint64_t state;
#else
static uint64_t state;
#endif
static uint64_t seed;

uint64_t test_seed(void)
{
	if (!seed) {
		const char *given = getenv("SEED");
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		seed = given ? strtoull(given, NULL, 0) :
			(now.tv_sec * 1000003ULL + now.tv_nsec) % 1000000007;
		seed += !seed;
	}
	return seed;
}

void test_reseed(uint64_t with)
{
	seed = with;
	state = with * 0x9e3779b97f4a7c15ULL | 1;
}

unsigned int rnd(unsigned int below)
{
	if (!state)
		state = (test_seed() + this_cpu) * 0x9e3779b97f4a7c15ULL | 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 33) % below;
}

void test_die(const char *why)
{
	fprintf(stderr, "CPU %u: %s\nreplay with SEED=%llu\n", this_cpu, why,
		(unsigned long long)test_seed());
	fflush(stderr);
	_Exit(1);
}

__thread unsigned int this_cpu;
__thread bool irqs_off;
__thread unsigned long locks_taken;
void (*interrupt)(void);

static unsigned int nr_cpus;
static void (*body)(unsigned int cpu);

#ifdef FREE_RUNNING

void cpu_switch(void)
{
}

static void *cpu_thread(void *arg)
{
	this_cpu = (uintptr_t)arg;
	body(this_cpu);
	return NULL;
}

void spin_lock_init(spinlock_t *l)
{
	pthread_mutex_init(&l->mutex, NULL);
}

void spin_lock(spinlock_t *l)
{
	pthread_mutex_lock(&l->mutex);
	locks_taken++;
}

void spin_unlock(spinlock_t *l)
{
	pthread_mutex_unlock(&l->mutex);
}

void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu))
{
	pthread_t thread[NR_CPUS];

	MUST(nr <= NR_CPUS);
	nr_cpus = nr;
	body = fn;
	for (uintptr_t i = 0; i < nr; i++)
		MUST(!pthread_create(&thread[i], NULL, cpu_thread, (void *)i));
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
}

#else

/* CPUs are contexts of one thread. */
#define STACK_BYTES	(128 << 10)

static struct place {
	ucontext_t context;
	const void *stack;
	size_t size;
	bool finished;
} cpu[NR_CPUS], machine;
static bool multi, in_interrupt;

/* What it does else to find who called whom fails at the first frame of a context. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "fast_unwind_on_fatal=1";
}

/* AddressSanitizer has to know on which stack it is, or its report does not end. */
static void go(struct place *from, const struct place *to)
{
	void *fake;

	__sanitizer_start_switch_fiber(&fake, to->stack, to->size);
	swapcontext(&from->context, &to->context);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

/* To the CPU that goes on, which may be this one; to the machine when all have finished. */
static void pass_on(void)
{
	unsigned int next, alive = 0, i, me = this_cpu;
	bool off = irqs_off, in = in_interrupt;

	for (i = 0; i < nr_cpus; i++)
		alive += !cpu[i].finished;
	next = alive ? rnd(alive) : 0;
	for (i = 0; alive && i < nr_cpus; i++)
		if (!cpu[i].finished && !next--)
			break;
	if (alive && i == me)
		return;
	go(&cpu[me], alive ? &cpu[i] : &machine);
	this_cpu = me;
	irqs_off = off;
	in_interrupt = in;
}

void cpu_switch(void)
{
	if (!multi)
		return;
	if (interrupt && !irqs_off && !in_interrupt && !rnd(64)) {
		in_interrupt = true;
		interrupt();
		in_interrupt = false;
	}
	pass_on();
}

static void cpu_begin(int n)
{
	const void *stack;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &stack, &size);
	if (n == 0) {	/* who comes from the machine */
		machine.stack = stack;
		machine.size = size;
	}
	this_cpu = n;
	irqs_off = in_interrupt = false;
	body(n);
	cpu[n].finished = true;
	pass_on();
}

void spin_lock_init(spinlock_t *l)
{
	l->holder = 0;
}

void spin_lock(spinlock_t *l)
{
	unsigned long spins = 0;

	cpu_switch();
	while (l->holder) {
		if (l->holder == this_cpu + 1)
			test_die("deadlock: the CPU has this lock already");
		if (++spins == 1000000)
			test_die("deadlock");
		cpu_switch();
	}
	l->holder = this_cpu + 1;
	locks_taken++;
}

void spin_unlock(spinlock_t *l)
{
	MUST(l->holder == this_cpu + 1);
	l->holder = 0;
	cpu_switch();
}

void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu))
{
	unsigned int me = this_cpu;

	MUST(nr <= NR_CPUS);
	nr_cpus = nr;
	body = fn;
	for (unsigned int i = 0; i < nr; i++) {
		ucontext_t *c = &cpu[i].context;
		void *stack = malloc(STACK_BYTES);

		MUST(stack && !getcontext(c));
		cpu[i].stack = c->uc_stack.ss_sp = stack;
		cpu[i].size = c->uc_stack.ss_size = STACK_BYTES;
		cpu[i].finished = false;
		makecontext(c, (void (*)(void))cpu_begin, 1, (int)i);
		/* AddressSanitizer would take a stack that it finds here for empty at each change */
		c->uc_stack = (stack_t){ 0 };
	}
	multi = true;
	go(&machine, &cpu[0]);
	multi = false;
	this_cpu = me;
	irqs_off = in_interrupt = false;
	for (unsigned int i = 0; i < nr; i++)
		free((void *)cpu[i].stack);
}

#endif
