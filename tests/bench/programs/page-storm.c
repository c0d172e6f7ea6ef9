// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page-storm CPU,CPU… PAGES ROUNDS
 * Every thread takes PAGES pages from the kernel, writes to each, and gives them back, ROUNDS times: what an allocator does
 * that returns memory at once.  A page that does not come as zeroes is a failure.
 */
#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "threads.h"

#define PAGE 4096
#define WORDS (PAGE / sizeof(uint64_t))

static unsigned long pages, rounds, dirty;

static void work(unsigned int index)
{
	unsigned long bad = 0;

	meet();
	for (unsigned long round = 0; round < rounds; round++) {
		volatile uint64_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			error(1, errno, "no memory of %lu pages", pages);
		for (unsigned long page = 0; page < pages; page++) {
			volatile uint64_t *word = &memory[page * WORDS + index];

			/* writes first: a read would be given the kernel's page of zeroes, and the write a second fault */
			*word = ~0ul;
			bad += word[WORDS / 2] != 0;
		}
		if (munmap((void *)memory, pages * PAGE))
			error(1, errno, "cannot give back %lu pages", pages);
	}
	__atomic_fetch_add(&dirty, bad, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	int cpus[THREADS_MAX];
	unsigned int threads;

	if (argc != 4)
		error(2, 0, "usage: page-storm CPU,CPU… PAGES ROUNDS");
	threads = parse_cpus(argv[1], cpus);
	if (!threads)
		error(2, 0, "\"%s\" is not a list of CPUs", argv[1]);
	pages = number(argv[2], "PAGES");
	rounds = number(argv[3], "ROUNDS");
	run_threads(cpus, threads, work);
	if (dirty)
		error(1, 0, "%lu pages came with what somebody had written", dirty);
	printf("%lu pages released by %u threads\n", pages * rounds * threads, threads);
	return 0;
}
