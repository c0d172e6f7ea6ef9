/* SPDX-License-Identifier: GPL-2.0-only */
#include "interleave.h"

#define WORKER	0
#define CONTROL	1
#define HELD	48

static struct run now;
static unsigned int at_work;

static bool others_work(void)
{
	return __atomic_load_n(&at_work, __ATOMIC_ACQUIRE);
}

static void worker(void)
{
	while (others_work() || guest_work()) {
		if (now.lazy && others_work() && rnd(400)) {
			cpu_switch();
			continue;
		}
		guest_work();
		cpu_switch();
	}
}

static void control(void)
{
	for (unsigned int i = 0; i < now.ops / 16; i++) {
		for (unsigned int wait = rnd(200); wait; wait--)
			cpu_switch();
		if (now.disturbed && !rnd(4)) {
			guest_disarm();
			for (unsigned int wait = rnd(400); wait; wait--)
				cpu_switch();
			guest_arm(now.threshold);
		}
		if (!rnd(4))
			guest_report();
	}
}

static void user(void)
{
	struct { unsigned long pfn; unsigned int order; } held[HELD];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < now.ops || nr; i++) {
		unsigned int zone = rnd(NR_ZONES);
		unsigned int order = rnd(3) ? rnd(2) : rnd(MAX_PAGE_ORDER + 1);
		enum leave how = now.disturbed && !rnd(8) ? LEAVE_BY_STEAL : LEAVE_BY_SPLIT;
		unsigned long pfn;

		if (i < now.ops && nr < HELD && rnd(2)) {
			if (guest_alloc(zone, order, how, &pfn)) {
				held[nr].pfn = pfn;
				held[nr++].order = order;
			}
		} else if (nr) {
			unsigned int which = rnd(4) ? nr - 1 : rnd(nr), o = held[which].order;
			int capture = i < now.ops && !rnd(8) ? (int)(o + rnd(2)) : -1;

			pfn = held[which].pfn;
			held[which] = held[--nr];
			if (guest_free(pfn, o, capture, &pfn)) {
				held[nr].pfn = pfn;
				held[nr++].order = capture;
			}
		}
		if (!rnd(32))
			guest_move(zone, rnd(3));
	}
}

static void cpu(unsigned int n)
{
	if (n == WORKER) {
		worker();
		return;
	}
	if (n == CONTROL)
		control();
	else
		user();
	__atomic_sub_fetch(&at_work, 1, __ATOMIC_RELEASE);
}

static void allocate_in_interrupt(void)
{
	unsigned long pfn;

	if (guest_alloc(rnd(NR_ZONES), 0, LEAVE_BY_SPLIT, &pfn))
		guest_free(pfn, 0, -1, &pfn);
}

static struct peq_stats total(void)
{
	struct peq_stats sum = { 0 };

	for (unsigned int i = 0; i < NR_QUEUES; i++) {
		const struct peq_stats *s = &queue[i].stats;

		sum.released += s->released;
		sum.taken += s->taken;
		sum.told += s->told;
		sum.dropped += s->dropped;
		sum.discarded += s->discarded;
		sum.batches += s->batches;
		sum.waits += s->waits;
	}
	return sum;
}

struct peq_stats interleave(const struct run *r)
{
	struct peq_stats s;

	now = *r;
	at_work = NR_CPUS - 1;
	interrupt = allocate_in_interrupt;
	xen_fails_percent = r->disturbed ? rnd(2) * 10 : 0;
	guest_init();
	guest_arm(r->threshold);
	guest_report();
	cpus_run(NR_CPUS, cpu);

	s = total();
	printf("SEED=%llu: %lu calls, %lu events; pages: %lu released, %lu taken, %lu dropped, %lu discarded; %lu waits\n",
	       (unsigned long long)test_seed(), xen_calls, xen_events, s.released, s.taken, s.dropped, s.discarded,
	       s.waits);
	/* nobody forgot to kick, and what was put in came out */
	for (unsigned int i = 0; i < NR_QUEUES; i++)
		MUST(peq_empty(&queue[i]));
	MUST(s.released == s.told + s.discarded);
	return s;
}

unsigned int rounds(void)
{
	const char *given = getenv("ROUNDS");

	return given ? atoi(given) : getenv("SEED") ? 1 : 100;
}

void start_round(unsigned int n)
{
	static uint64_t first;

	if (!first)
		first = test_seed();
	test_reseed(first + n);
}
