// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest with first-touch, and tells Xen by /dev/xen/privcmd that it has released pages of its own, which it goes on using:
 * they come back as zeroes, on the node of who touches them next.  It waits for a line before it begins.
 *
 *	memory-events warm MIB ROUNDS		each CPU touches MIB, all is released, and touched again, by the next CPU; waits for a line
 *						between
 *	memory-events storm MIB SEED		all CPUs release and touch parts of their MIB at random, and verify every word
 *	memory-events errors			what the hypercall answers to who does not know how to use it
 *	memory-events garbage SEED SECONDS	events that make no sense, without any that hurt the caller
 *	memory-events flood SEED MIB		all CPUs, as fast as they can: full batches for their MIB, which they do not use, and for
 *						pages that were allocated and released never, or by others
 *	memory-events split HINTED OTHERS	releases so many times 2 MiB, with a hint that those are handed out page by page, and these
 *						without; all CPUs in turn touch pages of each
 *	memory-events secret WORD MIB		writes the word all over MIB and releases them, again and again
 *	memory-events lie			releases all memory of the guest, used or not: the guest dies of it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory-gfns.h"
#include "page-events.h"
#include "platform-linux.h"

static void warm(size_t pages, int rounds)
{
	static struct batch batch;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t dirty = 0;
	char *mem[cpus], said[64];

	for (long i = 0; i < cpus; i++)
		mem[i] = allocate(pages);
	for (int round = 1; round <= rounds; round++) {
		for (long i = 0; i < cpus; i++) {
			long cpu = (i + round) % cpus;

			pin(cpu);
			for (size_t page = 0; page < pages; page++) {
				uint64_t *word = (uint64_t *)(mem[i] + page * PAGE);

				for (size_t w = 0; w < PAGE / sizeof(*word); w++)
					dirty += word[w] != 0;
				memset(word, 0xa5, PAGE);
			}
			print_gfns(cpu, mem[i], pages);
		}
		printf("memory-events: %" PRIu64 " words not zero\n", dirty);
		snprintf(said, sizeof(said), "memory-touch: round %d done", round);
		wait_for_go(said);
		if (round < rounds)
			for (long i = 0; i < cpus; i++)
				release(&batch, mem[i], pages);
	}
}

struct worker {
	pthread_t thread;
	long cpu;
	size_t pages;
	uint64_t random;
	atomic_ulong cycles, wrong;
};

/* xorshift64*, Marsaglia and Vigna. */
static uint32_t rnd(struct worker *w, uint32_t below)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * UINT64_C(2685821657736338717) >> 33) % below;
}

static uint64_t word(const struct worker *w, size_t page, size_t i, uint32_t generation)
{
	return generation ? (generation * UINT64_C(0x9e3779b97f4a7c15)) ^ (w->cpu << 56 | page << 16 | i) : 0;
}

/* What a page should hold: its generation's pattern, or zeroes. */
static void check(struct worker *w, const char *mem, size_t page, uint32_t generation)
{
	const uint64_t *words = (const uint64_t *)(mem + page * PAGE);

	for (size_t i = 0; i < PAGE / sizeof(*words); i++)
		if (words[i] != word(w, page, i, generation))
			atomic_fetch_add(&w->wrong, 1);
}

static void fill(struct worker *w, char *mem, size_t page, uint32_t generation)
{
	uint64_t *words = (uint64_t *)(mem + page * PAGE);

	for (size_t i = 0; i < PAGE / sizeof(*words); i++)
		words[i] = word(w, page, i, generation);
}

static void *storm(void *data)
{
	struct worker *w = data;
	char *mem = allocate(w->pages);
	uint32_t *generation = calloc(w->pages, sizeof(*generation));
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!generation || !batch)
		die("calloc");
	for (size_t page = 0; page < w->pages; page++)
		fill(w, mem, page, generation[page] = 1);
	for (uint32_t round = 2;; round++) {
		size_t first = rnd(w, w->pages), pages = 1 + rnd(w, rnd(w, 4) ? 16 : 2048);

		if (pages > w->pages - first)
			pages = w->pages - first;
		/* an older event of what is kept, and a newer one of what is released, must not matter */
		for (int i = rnd(w, 8); i--; ) {
			size_t page = rnd(w, w->pages);

			add(batch, RELEASED | gfn_of(mem + page * PAGE));
			add(batch, gfn_of(mem + page * PAGE));
		}
		flush(batch);
		release(batch, mem + first * PAGE, pages);
		for (size_t page = first; page < first + pages; page++) {
			/* a release that was skipped leaves the page as it is */
			uint64_t is = *(volatile uint64_t *)(mem + page * PAGE + 8);

			check(w, mem, page, is == word(w, page, 1, generation[page]) ? generation[page] : 0);
			fill(w, mem, page, generation[page] = round);
		}
		for (int i = 0; i < 64; i++) {
			size_t page = rnd(w, w->pages);

			check(w, mem, page, generation[page]);
		}
		atomic_fetch_add(&w->cycles, pages);
	}
	return NULL;
}

static void storms(size_t pages, uint64_t seed)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct worker *workers = calloc(cpus, sizeof(*workers));

	for (long cpu = 0; cpu < cpus; cpu++) {
		workers[cpu].cpu = cpu;
		workers[cpu].pages = pages;
		workers[cpu].random = seed * 1000003 + cpu + 1;
		if (pthread_create(&workers[cpu].thread, NULL, storm, &workers[cpu]))
			die("pthread_create");
	}
	for (unsigned int second = 1;; second++) {
		unsigned long cycles = 0, wrong = 0;

		sleep(1);
		for (long cpu = 0; cpu < cpus; cpu++) {
			cycles += atomic_load(&workers[cpu].cycles);
			wrong += atomic_load(&workers[cpu].wrong);
		}
		printf("memory-events: second %u: %lu pages released, %lu words wrong, %lu batches unwanted\n", second, cycles, wrong,
		       atomic_load(&unwanted));
		fflush(stdout);
	}
}

static void expect(const char *what, int rc, int wanted)
{
	printf("memory-events: %s: %s, %s\n", what, rc ? strerror(-rc) : "0", rc == wanted ? "right" : "WRONG");
}

static void errors(void)
{
	static uint64_t events[PAGE_EVENTS_MAX + 1];
	struct page_events none = { events, 0, 0 }, many = { events, PAGE_EVENTS_MAX + 1, 0 }, begun = { events, 1, 1 },
			   nowhere = { (const uint64_t *)8, 1, 0 };

	expect("no event", page_events(&none), 0);
	expect("too many", page_events(&many), -E2BIG);
	expect("done before", page_events(&begun), -EINVAL);
	expect("unreadable events", page_events(&nowhere), -EFAULT);
	expect("unreadable argument", page_events((void *)8), -EFAULT);
	printf("memory-events: errors done\n");
	fflush(stdout);
}

/* No gfn below `ram` is among them that is valid: those belong to who runs this. */
static void garbage(uint64_t seed, unsigned int seconds)
{
	static uint64_t events[PAGE_EVENTS_MAX];
	struct worker w = { .random = seed * 1000003 + 1 };
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * 2 + (64 << 8), batches = 0;
	unsigned int wrong = 0;

	for (time_t end = time(NULL) + seconds; time(NULL) < end; batches++) {
		uint32_t nr = rnd(&w, PAGE_EVENTS_MAX + 1);

		for (uint32_t i = 0; i < nr; i++) {
			uint64_t any = (uint64_t)rnd(&w, 1U << 31) << 33 ^ (uint64_t)rnd(&w, 1U << 31) << 11 ^ rnd(&w, 1U << 11);

			switch (rnd(&w, 4)) {
			case 0:		/* reserved bits */
				events[i] = any | UINT64_C(1) << (58 + rnd(&w, 5));
				break;
			case 1:		/* an order that there is not */
				events[i] = (any & ~(UINT64_C(0x7ff) << 52)) | RELEASED | (uint64_t)(19 + rnd(&w, 45)) << 52;
				break;
			case 2:		/* beyond the RAM, also what is below 4 GiB: MMIO, xenstore, console */
				events[i] = RELEASED | (uint64_t)rnd(&w, 10) << 52 | (ram + any % (UINT64_C(1) << (20 + rnd(&w, 32)))) >> 9 << 9;
				break;
			default:	/* not aligned */
				events[i] = RELEASED | (uint64_t)(1 + rnd(&w, 18)) << 52 | rnd(&w, ram) | 1;
				break;
			}
		}
		wrong += tell(events, nr) != 0;
	}
	printf("memory-events: %" PRIu64 " batches of garbage, %u refused\n", batches, wrong);
	fflush(stdout);
}

/* Releases single pages of its own, and has allocated whatever there may be. */
static void *flood(void *data)
{
	struct worker *w = data;
	char *mem = allocate(w->pages);
	uint64_t *events = calloc(PAGE_EVENTS_MAX, sizeof(*events)), *gfns = calloc(w->pages, sizeof(*gfns));

	if (!events || !gfns)
		die("calloc");
	pin(w->cpu);
	for (size_t page = 0; page < w->pages; page++) {
		mem[page * PAGE] = 1;
		gfns[page] = gfn_of(mem + page * PAGE);
	}
	for (;;) {
		for (int i = 0; i < PAGE_EVENTS_MAX; i++) {
			uint64_t gfn = gfns[rnd(w, w->pages)];
			uint32_t order = rnd(w, rnd(w, 4) ? 9 : 19);

			if (rnd(w, 2))
				events[i] = RELEASED | gfn;
			else
				events[i] = (uint64_t)order << 52 | rnd(w, 1U << 20) >> order << order;
		}
		tell(events, PAGE_EVENTS_MAX);
		for (int i = 0; i < 64; i++)
			mem[rnd(w, w->pages) * PAGE] = 2;
		atomic_fetch_add(&w->cycles, PAGE_EVENTS_MAX);
	}
	return NULL;
}

static void floods(uint64_t seed, size_t pages)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct worker *workers = calloc(cpus, sizeof(*workers));

	for (long cpu = 0; cpu < cpus; cpu++) {
		workers[cpu].cpu = cpu;
		workers[cpu].pages = pages;
		workers[cpu].random = seed * 1000003 + cpu + 1;
		if (pthread_create(&workers[cpu].thread, NULL, flood, &workers[cpu]))
			die("pthread_create");
	}
	for (unsigned int second = 1;; second++) {
		unsigned long events = 0;

		sleep(1);
		for (long cpu = 0; cpu < cpus; cpu++)
			events += atomic_load(&workers[cpu].cycles);
		printf("memory-events: second %u: flooded with %lu events\n", second, events);
		fflush(stdout);
	}
}

static void split(size_t hinted, size_t others)
{
	static struct batch batch;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t all = hinted + others;
	char *mem = mmap(NULL, (all + 1) * LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	mem += -(uintptr_t)mem % LARGE_PAGE;
	madvise(mem, all * LARGE_PAGE, MADV_HUGEPAGE);
	pin(0);
	for (char *at = mem; at < mem + all * LARGE_PAGE; at += LARGE_PAGE) {
		*at = 1;
		for (size_t page = 0; page < LARGE_PAGE / PAGE; page++)
			if (gfn_of(at + page * PAGE) != gfn_of(at) + page || gfn_of(at) % (LARGE_PAGE / PAGE))
				die_of("no huge page");
	}
	release(&batch, mem, all * LARGE_PAGE / PAGE);
	for (size_t i = 0; i < hinted; i++)
		add(&batch, SPLIT | gfn_of(mem + i * LARGE_PAGE));
	flush(&batch);
	for (long cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		for (size_t i = 0; i < all; i++) {
			mem[i * LARGE_PAGE + (cpu + 1) * PAGE] = 1;
			print_gfns(cpu, mem + i * LARGE_PAGE + (cpu + 1) * PAGE, 1);
		}
	}
	wait_for_go("memory-touch: round 1 done");
}

static void secret(uint64_t word, size_t pages)
{
	static struct batch batch;
	char *mem = allocate(pages);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (unsigned int round = 1;; round++) {
		pin(round % cpus);
		for (uint64_t *at = (uint64_t *)mem; at < (uint64_t *)(mem + pages * PAGE); at++)
			*at = word;
		printf("memory-events: secret: round %u written\n", round);
		fflush(stdout);
		sleep(2);
		release(&batch, mem, pages);
		printf("memory-events: secret: round %u released\n", round);
		fflush(stdout);
		sleep(2);
	}
}

static void lie(void)
{
	static uint64_t events[512];

	printf("memory-events: lying\n");
	fflush(stdout);
	sleep(2);
	for (uint32_t i = 0; i < 512; i++)
		events[i] = RELEASED | UINT64_C(9) << 52 | (uint64_t)i << 9;
	tell(events, 512);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t a = argc > 2 ? strtoull(argv[2], NULL, 0) : 0, b = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;

	open_pagemap();
	open_page_events();
	/* the kernel may move neither buffers nor pages meanwhile */
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		die("mlockall");
	wait_for_go("memory-touch: ready");
	if (!strcmp(what, "warm"))
		warm(a << 8, b);
	else if (!strcmp(what, "storm"))
		storms(a << 8, b);
	else if (!strcmp(what, "errors"))
		errors();
	else if (!strcmp(what, "garbage"))
		garbage(a, b);
	else if (!strcmp(what, "flood"))
		floods(a, b << 8);
	else if (!strcmp(what, "split"))
		split(a, b);
	else if (!strcmp(what, "secret"))
		secret(a, b << 8);
	else if (!strcmp(what, "lie"))
		lie();
	else
		die_of("no mode '%s'", what);
	for (;;)
		sleep(3600);
}
