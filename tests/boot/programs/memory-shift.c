// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-shift MIB [EVERY-MS]: runs in a guest.  CPU 0 touches MIB for each CPU, and says which gfns they are; then each
 * CPU has a part of its own, which it goes on writing and reading.  At a line from the console, or every EVERY-MS, the
 * parts shift: the CPU takes over that of the next one, or, with EVERY-MS, of the next one and of its own in turn.
 *
 *	memory-touch: cpu CPU GFN+PAGES …	the part that is the CPU's at first, as of memory-touch; many such lines
 *	memory-shift: ready
 *	memory-shift: second SECOND shift SHIFT pass PASS wrong WORDS	of the slowest CPU; words that were not what was written
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory-gfns.h"
#include "platform-linux.h"

struct worker {
	pthread_t thread;
	long cpu;
	char *part;		/* that is its own at first */
	atomic_uint passes;
};

static struct worker *workers;
static long cpus;
static size_t pages;
static atomic_uint shift, wrong;
static unsigned int every_ms;
/* a part changes hands between two passes of all */
static pthread_barrier_t pass;

/* A word of each page says which page it is of, and is written again each time. */
static void go_through(char *part, size_t salt)
{
	for (size_t i = 0; i < pages; i++) {
		volatile size_t *word = (volatile size_t *)(part + i * PAGE);

		if (*word != salt + i)
			atomic_fetch_add(&wrong, 1);
		*word = salt + i;
	}
}

static void *work(void *data)
{
	struct worker *w = data;

	pin(w->cpu);
	for (;;) {
		long whose;

		pthread_barrier_wait(&pass);
		whose = (w->cpu + shift) % cpus;
		pthread_barrier_wait(&pass);
		for (int times = 0; times < 4; times++)
			go_through(workers[whose].part, whose * pages);
		atomic_fetch_add(&w->passes, 1);
		usleep(1000);
	}
	return NULL;
}

static void *shift_by_line(void *unused)
{
	char line[16];

	while (fgets(line, sizeof(line), stdin))
		atomic_fetch_add(&shift, 1);
	return unused;
}

static void *shift_by_time(void *unused)
{
	for (;;) {
		usleep(every_ms * 1000);
		atomic_fetch_xor(&shift, 1);
	}
	return unused;
}

static unsigned int slowest(void)
{
	unsigned int passes = -1u;

	for (long cpu = 0; cpu < cpus; cpu++)
		if (workers[cpu].passes < passes)
			passes = workers[cpu].passes;
	return passes;
}

static void touch_all(void)
{
	pin(0);
	for (long cpu = 0; cpu < cpus; cpu++) {
		workers[cpu].cpu = cpu;
		workers[cpu].part = allocate(pages);
		for (size_t i = 0; i < pages; i++)
			*(size_t *)(workers[cpu].part + i * PAGE) = cpu * pages + i;
		print_gfns(cpu, workers[cpu].part, pages);
	}
}

int main(int argc, char **argv)
{
	pthread_t shifter;

	pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	if (!pages) {
		fprintf(stderr, "usage: memory-shift MIB [EVERY-MS]\n");
		return 2;
	}
	every_ms = argc > 2 ? atoi(argv[2]) : 0;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	workers = calloc(cpus, sizeof(*workers));
	open_pagemap();
	touch_all();
	pthread_barrier_init(&pass, NULL, cpus);
	for (long cpu = 0; cpu < cpus; cpu++)
		if (pthread_create(&workers[cpu].thread, NULL, work, &workers[cpu]))
			die("pthread_create");
	if (pthread_create(&shifter, NULL, every_ms ? shift_by_time : shift_by_line, NULL))
		die("pthread_create");
	printf("memory-shift: ready\n");
	for (unsigned int second = 1;; second++) {
		fflush(stdout);
		sleep(1);
		printf("memory-shift: second %u shift %u pass %u wrong %u\n", second, shift, slowest(), wrong);
	}
}
