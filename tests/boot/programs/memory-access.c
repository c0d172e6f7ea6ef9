// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-access MIB [PAUSE]: runs in a guest whose accesses are sampled.  A thread a CPU, which stays on it, reads MIB of memory and
 * writes another MIB, over and over, with PAUSE ms in between; nobody else accesses these.  Which gfns they are is said first:
 *
 *	memory-access: reads
 *	memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines
 *	memory-access: writes
 *	memory-touch: cpu CPU GFN+PAGES …
 *	memory-access: ready			the first pass begins
 *	memory-access: pass PASS of all		from time to time
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory-gfns.h"

struct worker {
	pthread_t thread;
	long cpu;
	size_t pages;
	volatile char *reads, *writes;
	atomic_uint passes;
};

static useconds_t pause_us;
static pthread_barrier_t allocated, go;

static void *work(void *data)
{
	struct worker *w = data;

	pin(w->cpu);
	w->reads = allocate(w->pages);
	w->writes = allocate(w->pages);
	/* what was never written is one page of zeroes for all */
	memset((char *)w->reads, 1, w->pages * PAGE);
	memset((char *)w->writes, 1, w->pages * PAGE);
	pthread_barrier_wait(&allocated);
	pthread_barrier_wait(&go);
	for (;;) {
		for (size_t i = 0; i < w->pages; i++) {
			(void)w->reads[i * PAGE];
			w->writes[i * PAGE] = 2;
		}
		atomic_fetch_add(&w->passes, 1);
		usleep(pause_us);
	}
	return NULL;
}

static unsigned int slowest(struct worker *workers, long cpus)
{
	unsigned int passes = -1u;

	for (long cpu = 0; cpu < cpus; cpu++)
		if (workers[cpu].passes < passes)
			passes = workers[cpu].passes;
	return passes;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	struct worker workers[cpus];

	if (!pages) {
		fprintf(stderr, "usage: memory-access MIB [PAUSE]\n");
		return 2;
	}
	pause_us = argc > 2 ? atoi(argv[2]) * 1000 : 0;
	open_pagemap();
	pthread_barrier_init(&allocated, NULL, cpus + 1);
	pthread_barrier_init(&go, NULL, cpus + 1);
	for (long cpu = 0; cpu < cpus; cpu++) {
		workers[cpu] = (struct worker){ .cpu = cpu, .pages = pages };
		if (pthread_create(&workers[cpu].thread, NULL, work, &workers[cpu]))
			die("pthread_create");
	}
	pthread_barrier_wait(&allocated);
	printf("memory-access: reads\n");
	for (long cpu = 0; cpu < cpus; cpu++)
		print_gfns(cpu, (char *)workers[cpu].reads, pages);
	printf("memory-access: writes\n");
	for (long cpu = 0; cpu < cpus; cpu++)
		print_gfns(cpu, (char *)workers[cpu].writes, pages);
	printf("memory-access: ready\n");
	fflush(stdout);
	pthread_barrier_wait(&go);
	for (;;) {
		sleep(1);
		printf("memory-access: pass %u of all\n", slowest(workers, cpus));
		fflush(stdout);
	}
}
