// SPDX-License-Identifier: GPL-2.0-or-later
#include "threads.h"

#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static void (*work)(unsigned int index);

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		error(1, errno, "cannot run on CPU %d", cpu);
}

struct place {
	unsigned int index;
	int cpu;
};

static void *start(void *data)
{
	const struct place *place = data;

	pin(place->cpu);
	work(place->index);
	return NULL;
}

unsigned int parse_cpus(const char *list, int *cpus)
{
	unsigned int count = 0;

	while (*list && count < THREADS_MAX) {
		char *end;
		unsigned long cpu = strtoul(list, &end, 10);

		if (end == list || cpu >= CPU_SETSIZE || (*end && *end != ','))
			return 0;
		cpus[count++] = (int)cpu;
		list = *end ? end + 1 : end;
	}
	return *list ? 0 : count;
}

void run_threads(const int *cpus, unsigned int count, void (*function)(unsigned int index))
{
	pthread_t threads[THREADS_MAX];
	struct place places[THREADS_MAX];

	work = function;
	pthread_barrier_init(&barrier, NULL, count);
	for (unsigned int i = 0; i < count; i++) {
		places[i] = (struct place){ i, cpus[i] };
		if (i) {
			int failed = pthread_create(&threads[i], NULL, start, &places[i]);

			if (failed)
				error(1, failed, "cannot start a thread");
		}
	}
	start(&places[0]);
	for (unsigned int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
}

void meet(void)
{
	pthread_barrier_wait(&barrier);
}

unsigned long number(const char *word, const char *what)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || !value)
		error(2, 0, "%s: \"%s\" is not a number from 1 on", what, word);
	return value;
}
