// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-touch MIB [ROUNDS [PAUSE [together | in-turn]]]: runs in a guest.  Touches MIB of memory on each CPU, page by page, one CPU after the
 * other or all at once; says which gfns these were, in the order of touching.  What it has it frees at the end of a round, and PAUSE
 * seconds later it begins anew.
 *
 *	memory-touch: ready			and waits for a line
 *	memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines
 *	memory-touch: round ROUND done
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory-gfns.h"
#include "platform-linux.h"

struct toucher {
	pthread_t thread;
	long cpu;
	size_t pages;
	char *mem;
};

static void *touch(void *data)
{
	struct toucher *t = data;

	pin(t->cpu);
	t->mem = allocate(t->pages);
	for (size_t i = 0; i < t->pages; i++)
		t->mem[i * PAGE] = 1;
	return NULL;
}

static void touch_all(struct toucher *touchers, long cpus, bool together)
{
	for (long cpu = 0; cpu < cpus; cpu++) {
		if (pthread_create(&touchers[cpu].thread, NULL, touch, &touchers[cpu]))
			die("pthread_create");
		if (!together)
			pthread_join(touchers[cpu].thread, NULL);
	}
	if (together)
		for (long cpu = 0; cpu < cpus; cpu++)
			pthread_join(touchers[cpu].thread, NULL);
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	int rounds = argc > 2 ? atoi(argv[2]) : 1, pause = argc > 3 ? atoi(argv[3]) : 0;
	bool together = argc > 4 && !strcmp(argv[4], "together");
	struct toucher touchers[cpus];

	if (!pages) {
		fprintf(stderr, "usage: memory-touch MIB [ROUNDS [PAUSE [together | in-turn]]]\n");
		return 2;
	}
	for (long cpu = 0; cpu < cpus; cpu++)
		touchers[cpu] = (struct toucher){ .cpu = cpu, .pages = pages };
	open_pagemap();
	wait_for_go("memory-touch: ready");
	for (int round = 1; round <= rounds; round++) {
		touch_all(touchers, cpus, together);
		for (long cpu = 0; cpu < cpus; cpu++)
			print_gfns(cpu, touchers[cpu].mem, pages);
		printf("memory-touch: round %d done\n", round);
		fflush(stdout);
		if (round < rounds)
			for (long cpu = 0; cpu < cpus; cpu++)
				munmap(touchers[cpu].mem, pages * PAGE);
		sleep(pause);
	}
	for (;;)
		sleep(3600);
}
