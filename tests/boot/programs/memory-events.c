// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest with first-touch, or is one, and tells Xen that it has released pages of its own, which it goes on using: they come
 * back as zeroes, on the node of who touches them next.  It waits for a line before it begins.
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
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory-gfns.h"
#include "page-events.h"

#define SECOND_NS UINT64_C(1000000000)

struct worker {
	long cpu;
	char *mem;
	uint64_t random;
	uint32_t round, *generation;	/* of a storm: that of each page */
	uint64_t *gfns;			/* of a flood */
	struct batch batch;
	atomic_ulong cycles, wrong;
};

static struct worker workers[MOST_CPUS];
static size_t pages;		/* of each CPU */

static void *array(size_t bytes)
{
	return allocate((bytes + PAGE - 1) / PAGE);
}

static void start_workers(uint64_t seed)
{
	for (long cpu = 0; cpu < cpu_count(); cpu++) {
		workers[cpu].cpu = cpu;
		workers[cpu].random = seed * 1000003 + cpu + 1;
		workers[cpu].mem = allocate(pages);
	}
}

/* xorshift64*, Marsaglia and Vigna. */
static uint32_t rnd(struct worker *w, uint32_t below)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * UINT64_C(2685821657736338717) >> 33) % below;
}

static char *warmed;
static uint64_t dirty;

static void write_all(long cpu)
{
	(void)cpu;
	for (size_t page = 0; page < pages; page++) {
		uint64_t *word = (uint64_t *)(warmed + page * PAGE);

		for (size_t w = 0; w < PAGE / sizeof(*word); w++)
			dirty += word[w] != 0;
		memset(word, 0xa5, PAGE);
	}
}

static void warm(int rounds)
{
	static struct batch batch;
	long cpus = cpu_count();
	char done[64];

	start_workers(0);
	for (int round = 1; round <= rounds; round++) {
		for (long i = 0; i < cpus; i++) {
			warmed = workers[i].mem;
			on_cpu((i + round) % cpus, write_all);
			print_gfns((i + round) % cpus, warmed, pages);
		}
		say("memory-events: %" PRIu64 " words not zero\n", dirty);
		snprintf(done, sizeof(done), "memory-touch: round %d done", round);
		wait_for_go(done);
		for (long i = 0; i < cpus && round < rounds; i++)
			release(&batch, workers[i].mem, pages);
	}
}

static uint64_t word(const struct worker *w, size_t page, size_t i, uint32_t generation)
{
	return generation ? (generation * UINT64_C(0x9e3779b97f4a7c15)) ^ (w->cpu << 56 | page << 16 | i) : 0;
}

/* What a page should hold: its generation's pattern, or zeroes. */
static void check(struct worker *w, size_t page, uint32_t generation)
{
	const uint64_t *words = (const uint64_t *)(w->mem + page * PAGE);

	for (size_t i = 0; i < PAGE / sizeof(*words); i++)
		if (words[i] != word(w, page, i, generation))
			atomic_fetch_add(&w->wrong, 1);
}

static void fill(struct worker *w, size_t page, uint32_t generation)
{
	uint64_t *words = (uint64_t *)(w->mem + page * PAGE);

	w->generation[page] = generation;
	for (size_t i = 0; i < PAGE / sizeof(*words); i++)
		words[i] = word(w, page, i, generation);
}

static void fill_all(long cpu)
{
	workers[cpu].round = 1;
	for (size_t page = 0; page < pages; page++)
		fill(&workers[cpu], page, 1);
}

static void storm(long cpu)
{
	struct worker *w = &workers[cpu];
	size_t first = rnd(w, pages), some = 1 + rnd(w, rnd(w, 4) ? 16 : 2048);

	w->round++;
	if (some > pages - first)
		some = pages - first;
	/* an older event of what is kept, and a newer one of what is released, must not matter */
	for (int i = rnd(w, 8); i--; ) {
		size_t page = rnd(w, pages);

		add(&w->batch, RELEASED | gfn_of(w->mem + page * PAGE));
		add(&w->batch, gfn_of(w->mem + page * PAGE));
	}
	flush(&w->batch);
	release(&w->batch, w->mem + first * PAGE, some);
	for (size_t page = first; page < first + some; page++) {
		/* a release that was skipped leaves the page as it is */
		uint64_t is = *(volatile uint64_t *)(w->mem + page * PAGE + 8);

		check(w, page, is == word(w, page, 1, w->generation[page]) ? w->generation[page] : 0);
		fill(w, page, w->round);
	}
	for (int i = 0; i < 64; i++) {
		size_t page = rnd(w, pages);

		check(w, page, w->generation[page]);
	}
	atomic_fetch_add(&w->cycles, some);
}

static unsigned long all_cycles(void)
{
	unsigned long cycles = 0;

	for (long cpu = 0; cpu < cpu_count(); cpu++)
		cycles += atomic_load(&workers[cpu].cycles);
	return cycles;
}

static void report_storm(unsigned int second)
{
	unsigned long wrong = 0;

	for (long cpu = 0; cpu < cpu_count(); cpu++)
		wrong += atomic_load(&workers[cpu].wrong);
	say("memory-events: second %u: %lu pages released, %lu words wrong, %lu batches unwanted\n", second, all_cycles(), wrong,
	    atomic_load(&unwanted));
}

static void storms(uint64_t seed)
{
	start_workers(seed);
	for (long cpu = 0; cpu < cpu_count(); cpu++)
		workers[cpu].generation = array(pages * sizeof(*workers[cpu].generation));
	on_each_cpu(fill_all);
	for_ever(storm, report_storm);
}

static void expect(const char *what, int rc, int wanted)
{
	say("memory-events: %s: %s, %s\n", what, rc ? strerror(-rc) : "0", rc == wanted ? "right" : "WRONG");
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
	say("memory-events: errors done\n");
}

/* No gfn below `ram` is among them that is valid: those belong to who runs this. */
static void garbage(uint64_t seed, unsigned int seconds)
{
	static uint64_t events[PAGE_EVENTS_MAX];
	struct worker *w = &workers[0];
	uint64_t ram = ram_pages() * 2 + (64 << 8), batches = 0;
	unsigned int wrong = 0;

	w->random = seed * 1000003 + 1;
	for (uint64_t end = now() + seconds * SECOND_NS; now() < end; batches++) {
		uint32_t nr = rnd(w, PAGE_EVENTS_MAX + 1);

		for (uint32_t i = 0; i < nr; i++) {
			uint64_t any = (uint64_t)rnd(w, 1U << 31) << 33 ^ (uint64_t)rnd(w, 1U << 31) << 11 ^ rnd(w, 1U << 11);

			switch (rnd(w, 4)) {
			case 0:		/* reserved bits */
				events[i] = any | UINT64_C(1) << (58 + rnd(w, 5));
				break;
			case 1:		/* an order that there is not */
				events[i] = (any & ~(UINT64_C(0x7ff) << 52)) | RELEASED | (uint64_t)(19 + rnd(w, 45)) << 52;
				break;
			case 2:		/* beyond the RAM, also what is below 4 GiB: MMIO, xenstore, console */
				events[i] = RELEASED | (uint64_t)rnd(w, 10) << 52 | (ram + any % (UINT64_C(1) << (20 + rnd(w, 32)))) >> 9 << 9;
				break;
			default:	/* not aligned */
				events[i] = RELEASED | (uint64_t)(1 + rnd(w, 18)) << 52 | rnd(w, ram) | 1;
				break;
			}
		}
		wrong += tell(events, nr) != 0;
	}
	say("memory-events: %" PRIu64 " batches of garbage, %u refused\n", batches, wrong);
}

static void touch_all(long cpu)
{
	struct worker *w = &workers[cpu];

	for (size_t page = 0; page < pages; page++) {
		w->mem[page * PAGE] = 1;
		w->gfns[page] = gfn_of(w->mem + page * PAGE);
	}
}

/* Releases single pages of its own, and has allocated whatever there may be. */
static void flood(long cpu)
{
	struct worker *w = &workers[cpu];

	for (int i = 0; i < PAGE_EVENTS_MAX; i++) {
		uint64_t gfn = w->gfns[rnd(w, pages)];
		uint32_t order = rnd(w, rnd(w, 4) ? 9 : 19);

		if (rnd(w, 2))
			w->batch.events[i] = RELEASED | gfn;
		else
			w->batch.events[i] = (uint64_t)order << 52 | rnd(w, 1U << 20) >> order << order;
	}
	tell(w->batch.events, PAGE_EVENTS_MAX);
	for (int i = 0; i < 64; i++)
		w->mem[rnd(w, pages) * PAGE] = 2;
	atomic_fetch_add(&w->cycles, PAGE_EVENTS_MAX);
}

static void report_flood(unsigned int second)
{
	say("memory-events: second %u: flooded with %lu events\n", second, all_cycles());
}

static void floods(uint64_t seed)
{
	start_workers(seed);
	for (long cpu = 0; cpu < cpu_count(); cpu++)
		workers[cpu].gfns = array(pages * sizeof(*workers[cpu].gfns));
	on_each_cpu(touch_all);
	for_ever(flood, report_flood);
}

static char *large;
static size_t hinted, larges;

/* On the CPU that a hint, which touches its page, is to have that page on. */
static void release_large(long cpu)
{
	static struct batch batch;

	(void)cpu;
	for (char *at = large; at < large + larges * LARGE_PAGE; at += LARGE_PAGE) {
		*at = 1;
		for (size_t page = 0; page < LARGE_PAGE / PAGE; page++)
			if (gfn_of(at + page * PAGE) != gfn_of(at) + page || gfn_of(at) % (LARGE_PAGE / PAGE))
				die_of("no huge page");
	}
	release(&batch, large, larges * LARGE_PAGE / PAGE);
	for (size_t i = 0; i < hinted; i++)
		add(&batch, SPLIT | gfn_of(large + i * LARGE_PAGE));
	flush(&batch);
}

static char *page_of(size_t i, long cpu)
{
	return large + i * LARGE_PAGE + (cpu + 1) * PAGE;
}

static void touch_large(long cpu)
{
	for (size_t i = 0; i < larges; i++)
		*page_of(i, cpu) = 1;
}

static void split(size_t with_hint, size_t without)
{
	hinted = with_hint;
	larges = with_hint + without;
	large = allocate_large(larges);
	on_cpu(0, release_large);
	for (long cpu = 0; cpu < cpu_count(); cpu++) {
		on_cpu(cpu, touch_large);
		for (size_t i = 0; i < larges; i++)
			print_gfns(cpu, page_of(i, cpu), 1);
	}
	wait_for_go("memory-touch: round 1 done");
}

static uint64_t secret_word;

static void write_secret(long cpu)
{
	(void)cpu;
	for (uint64_t *at = (uint64_t *)warmed; at < (uint64_t *)(warmed + pages * PAGE); at++)
		*at = secret_word;
}

static void secret(uint64_t word)
{
	static struct batch batch;

	warmed = allocate(pages);
	secret_word = word;
	for (unsigned int round = 1;; round++) {
		on_cpu(round % cpu_count(), write_secret);
		/* until it has been found */
		if (round == 1)
			wait_for_go("memory-events: secret: round 1 written");
		rest(2000);
		release(&batch, warmed, pages);
		say("memory-events: secret: round %u released\n", round);
		rest(2000);
	}
}

static void lie(void)
{
	static uint64_t events[512];
	const size_t used = 8 << 20;	/* what nobody has touched cannot be released */

	memset(array(used), 0xa5, used);
	say("memory-events: lying\n");
	rest(2000);
	for (uint32_t i = 0; i < 512; i++)
		events[i] = RELEASED | UINT64_C(9) << 52 | (uint64_t)i << 9;
	tell(events, 512);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t a = argc > 2 ? strtoul(argv[2], NULL, 0) : 0, b = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;

	open_page_events();
	wait_for_go("memory-touch: ready");
	if (!strcmp(what, "warm")) {
		pages = a << 8;
		warm(b);
	} else if (!strcmp(what, "storm")) {
		pages = a << 8;
		storms(b);
	} else if (!strcmp(what, "errors")) {
		errors();
	} else if (!strcmp(what, "garbage")) {
		garbage(a, b);
	} else if (!strcmp(what, "flood")) {
		pages = b << 8;
		floods(a);
	} else if (!strcmp(what, "split")) {
		split(a, b);
	} else if (!strcmp(what, "secret")) {
		pages = b << 8;
		secret(a);
	} else if (!strcmp(what, "lie")) {
		lie();
	} else {
		die_of("no mode '%s'", what);
	}
	for (;;)
		rest(3600000);
}
