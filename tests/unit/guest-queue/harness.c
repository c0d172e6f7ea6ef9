#include "harness.h"

#include <time.h>

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

#else

static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed[NR_CPUS];
static unsigned int running;
static bool finished[NR_CPUS];
static bool multi;
static __thread bool in_interrupt;

/* baton held */
static void pass_baton(void)
{
	unsigned int next, alive = 0, i;

	for (i = 0; i < nr_cpus; i++)
		alive += !finished[i];
	if (!alive)
		return;
	next = rnd(alive);
	for (i = 0; i < nr_cpus; i++)
		if (!finished[i] && !next--)
			break;
	running = i;
	if (running != this_cpu || finished[this_cpu])
		pthread_cond_signal(&passed[running]);
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
	pass_baton();
	while (running != this_cpu)
		pthread_cond_wait(&passed[this_cpu], &baton);
}

static void *cpu_thread(void *arg)
{
	this_cpu = (uintptr_t)arg;
	pthread_mutex_lock(&baton);
	while (running != this_cpu)
		pthread_cond_wait(&passed[this_cpu], &baton);
	body(this_cpu);
	finished[this_cpu] = true;
	pass_baton();
	pthread_mutex_unlock(&baton);
	return NULL;
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

#endif

void cpus_run(unsigned int nr, void (*fn)(unsigned int cpu))
{
	pthread_t thread[NR_CPUS];

	MUST(nr <= NR_CPUS);
	nr_cpus = nr;
	body = fn;
#ifndef FREE_RUNNING
	for (unsigned int i = 0; i < nr; i++) {
		pthread_cond_init(&passed[i], NULL);
		finished[i] = false;
	}
	running = 0;
	multi = true;
#endif
	for (uintptr_t i = 0; i < nr; i++)
		MUST(!pthread_create(&thread[i], NULL, cpu_thread, (void *)i));
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
#ifndef FREE_RUNNING
	multi = false;
#endif
}
