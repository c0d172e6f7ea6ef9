// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-cost MIB: runs in a guest of one CPU, and does what is to be counted from outside, as lines from the console tell it:
 *
 *	touch		writes a word to each of its pages
 *	small		releases every other page of them, by XENMEM_page_events
 *	single		… each with a hypercall of its own
 *	large		releases all of them, in runs as large as gfns allow
 *	storm		takes as much memory from the kernel once more, touches it and gives it back
 *	churn		the same, 64 KiB at a time, which the kernel finds in its lists of the CPU
 *	spin		counts, and asks nobody for anything
 *
 *	memory-cost: WORD NUMBER done, PAGES freed	after each, counted from 1; pages that anybody has freed meanwhile
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "page-events.h"
#include "platform-linux.h"

#define CHURN 16UL	/* pages at a time */
#define SPIN 4096UL	/* steps instead of a page, which take about as long */

static void touch(char *mem, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		mem[i * PAGE] = 1;
}

static void storm(size_t pages)
{
	char *mem = allocate(pages);

	touch(mem, pages);
	munmap(mem, pages * PAGE);
}

static void spin(size_t pages)
{
	for (volatile size_t i = 0; i < pages * SPIN; i++)
		;
}

/* Pages that were given back to the kernel's allocator since it started, also those that it keeps in lists of a CPU. */
static unsigned long freed(void)
{
	FILE *vmstat = fopen("/proc/vmstat", "r");
	unsigned long value = 0;
	char name[64] = "";

	if (!vmstat)
		die("/proc/vmstat");
	while (fscanf(vmstat, "%63s %lu", name, &value) == 2 && strcmp(name, "pgfree"))
		;
	fclose(vmstat);
	if (strcmp(name, "pgfree"))
		die_of("/proc/vmstat has no pgfree");
	return value;
}

int main(int argc, char **argv)
{
	size_t pages = argc == 2 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	static struct batch batch;
	uint64_t *gfns = calloc(pages, sizeof(*gfns));
	char *mem, word[16];

	if (!pages || !gfns) {
		fprintf(stderr, "usage: memory-cost MIB\n");
		return 2;
	}
	open_page_events();
	mem = allocate(pages);
	touch(mem, pages);
	for (size_t i = 0; i < pages; i++)
		gfns[i] = gfn_of(mem + i * PAGE);
	wait_for_go("memory-touch: ready");
	for (unsigned int number = 1; scanf("%15s", word) == 1; number++) {
		unsigned long before = freed();

		if (!strcmp(word, "touch"))
			touch(mem, pages);
		else if (!strcmp(word, "large"))
			release(&batch, mem, pages);
		else if (!strcmp(word, "spin"))
			spin(pages);
		else if (!strcmp(word, "storm"))
			storm(pages);
		else if (!strcmp(word, "churn"))
			for (size_t i = 0; i < pages; i += CHURN)
				storm(CHURN);
		else if (!strcmp(word, "small") || !strcmp(word, "single"))
			for (size_t i = 0; i < pages; i += 2) {
				add(&batch, RELEASED | gfns[i]);
				if (!strcmp(word, "single"))
					flush(&batch);
			}
		else
			die_of("memory-cost: what is %s?", word);
		flush(&batch);
		printf("memory-cost: %s %u done, %lu freed\n", word, number, freed() - before);
		fflush(stdout);
	}
	return 0;
}
