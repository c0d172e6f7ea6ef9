// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "memory-gfns.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PFN_MASK ((UINT64_C(1) << 55) - 1)	/* Documentation/admin-guide/mm/pagemap.rst */

static int pagemap;

void die(const char *what)
{
	perror(what);
	exit(2);
}

void die_of(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

void open_pagemap(void)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (pagemap < 0)
		die("pagemap");
}

uint64_t gfn_of(const void *at)
{
	uint64_t entry;

	if (pread(pagemap, &entry, sizeof(entry), (uintptr_t)at / PAGE * sizeof(entry)) != sizeof(entry))
		die("pagemap");
	return entry & PFN_MASK;
}

void print_gfns(long cpu, const char *mem, size_t pages)
{
	for (size_t i = 0, runs = 0; i < pages; runs++) {
		uint64_t first = gfn_of(mem + i * PAGE);
		long run = 1, step = 0;

		if (i + 1 < pages) {
			uint64_t next = gfn_of(mem + (i + 1) * PAGE);

			step = next == first + 1 ? 1 : next + 1 == first ? -1 : 0;
		}
		while (step && i + run < pages && gfn_of(mem + (i + run) * PAGE) == first + step * run)
			run++;
		if (runs % 6 == 0)
			printf("%smemory-touch: cpu %ld", runs ? "\n" : "", cpu);
		printf(" %" PRIx64 "+%ld", first, step < 0 ? -run : run);
		i += run;
	}
	printf("\n");
}

void wait_for_go(const char *reached)
{
	char line[16];

	printf("%s\n", reached);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("nobody said that I may go on");
}

void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

char *allocate(size_t pages)
{
	char *mem = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	madvise(mem, pages * PAGE, MADV_NOHUGEPAGE);
	return mem;
}
