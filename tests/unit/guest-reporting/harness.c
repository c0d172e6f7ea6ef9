/* SPDX-License-Identifier: GPL-2.0-only */
#include "harness.h"

#include <sanitizer/common_interface_defs.h>
#include <time.h>
#include <ucontext.h>

/* xorshift64*, Vigna 2014 */
static uint64_t state, seed;

uint64_t test_seed(void)
{
	if (!seed) {
		const char *given = getenv("SEED");
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		seed = given ? strtoull(given, NULL, 0) : (now.tv_sec * 1000003ULL + now.tv_nsec) % 1000000007;
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
		test_reseed(test_seed());
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 33) % below;
}

void test_die(const char *why)
{
	fprintf(stderr, "CPU %u: %s\nreplay with SEED=%llu\n", this_cpu, why, (unsigned long long)test_seed());
	fflush(stderr);
	_Exit(1);
}

unsigned int this_cpu;
unsigned long locks_taken, steps;
struct cpu cpus[NR_CPUS];
void (*interrupt)(void), (*nmi)(void);

static unsigned int nr_cpus;
static void (*body)(unsigned int cpu);

/* CPUs are contexts of one thread. */
#define STACK_BYTES	(256 << 10)

static struct place {
	ucontext_t context;
	const void *stack;
	size_t size;
	bool finished;
} places[NR_CPUS], machine;
static bool multi;

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
	unsigned int next, alive = 0, i, this = this_cpu;

	for (i = 0; i < nr_cpus; i++)
		alive += !places[i].finished;
	next = alive ? rnd(alive) : 0;
	for (i = 0; alive && i < nr_cpus; i++)
		if (!places[i].finished && !next--)
			break;
	if (alive && i == this)
		return;
	if (alive)
		this_cpu = i;
	go(&places[this], alive ? &places[i] : &machine);
	this_cpu = this;
}

void cpu_switch(void)
{
	if (++steps > 30000000)
		test_die("no end");
	if (!multi)
		return;
	if (interrupt && !me->irqs_off && !me->in_interrupt && !me->in_nmi && !rnd(64)) {
		me->in_interrupt = me->irqs_off = true;
		interrupt();
		me->in_interrupt = me->irqs_off = false;
	}
	if (nmi && !me->in_nmi && !rnd(400)) {
		bool off = me->irqs_off;

		me->in_nmi = me->irqs_off = true;
		nmi();
		me->in_nmi = false;
		me->irqs_off = off;
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
	body(n);
	MUST(can_sleep());
	places[n].finished = true;
	pass_on();
}

bool spin_trylock(spinlock_t *l)
{
	cpu_switch();
	if (l->holder)
		return false;
	l->holder = this_cpu + 1;
	me->locks++;
	locks_taken++;
	return true;
}

void spin_lock(spinlock_t *l)
{
	unsigned long spins = 0;

	MUST(!me->in_nmi);
	while (!spin_trylock(l)) {
		if (l->holder == this_cpu + 1)
			test_die("deadlock: the CPU has this lock already");
		if (++spins == 1000000)
			test_die("deadlock");
	}
}

void spin_unlock(spinlock_t *l)
{
	MUST(l->holder == this_cpu + 1);
	l->holder = 0;
	me->locks--;
	cpu_switch();
}

void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu))
{
	unsigned int this = this_cpu;

	MUST(nr <= NR_CPUS);
	nr_cpus = nr;
	body = fn;
	memset(cpus, 0, sizeof(cpus));
	for (unsigned int i = 0; i < nr; i++) {
		ucontext_t *c = &places[i].context;
		void *stack = malloc(STACK_BYTES);

		MUST(stack && !getcontext(c));
		places[i].stack = c->uc_stack.ss_sp = stack;
		places[i].size = c->uc_stack.ss_size = STACK_BYTES;
		places[i].finished = false;
		makecontext(c, (void (*)(void))cpu_begin, 1, (int)i);
		/* AddressSanitizer would take a stack that it finds here for empty at each change */
		c->uc_stack = (stack_t){ 0 };
	}
	multi = true;
	steps = 0;
	go(&machine, &places[0]);
	multi = false;
	this_cpu = this;
	for (unsigned int i = 0; i < nr; i++)
		free((void *)places[i].stack);
}
