// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "platform-linux.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (strchr(format, '\n'))
		fflush(stdout);
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

void wait_for_go(const char *reached)
{
	char line[16];

	say("%s\n", reached);
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
