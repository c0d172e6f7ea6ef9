/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon takes with many guests: scale GUESTS VCPUS NODES SAMPLES PERIODS. Time is that of the daemon's part of each
 * period; samples are made in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/view.h"
#include "daemon/period.h"
#include "daemon/sampling.h"
#include "fake-xen.h"
#include "process/clock.h"
#include "process/log.h"

static struct daemon d;
static uint64_t served_at, longest;

static void serve(struct daemon *daemon)
{
	uint64_t now = clock_ns();

	(void)daemon;
	if (now - served_at > longest)
		longest = now - served_at;
	served_at = now;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Of the daemon: what Xen has is shared memory. */
static unsigned long memory_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static uint64_t show(void)
{
	uint64_t begun = clock_ns();
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	view_show(f, &d);
	fclose(f);
	free(text);
	return clock_ns() - begun;
}

static uint64_t period(uint64_t *wall)
{
	uint64_t begun, cpu;
	unsigned int i;

	for (i = 0; i < d.nr; i++)
		if (fake.guest[i].state == XEN_RUNNING)
			fake_sample(&fake.guest[i]);
	begun = clock_ns();
	cpu = cpu_ns();
	d.ns = d.config.period_ms * MS;
	d.now = d.read_at = d.served_at = served_at = begun;
	sampling_read_all(&d);
	period_run(&d);
	serve(&d);
	*wall = clock_ns() - begun;
	return cpu_ns() - cpu;
}

int main(int argc, char **argv)
{
	unsigned int guests, vcpus, nodes, samples, periods, i, running = 0;
	uint64_t cpu = 0, wall, slowest = 0, most_cpu = 0, orders = 0;

	if (argc != 6)
		return 2;
	guests = atoi(argv[1]);
	vcpus = atoi(argv[2]);
	nodes = atoi(argv[3]);
	samples = atoi(argv[4]);
	periods = atoi(argv[5]);
	fake_begin(nodes, guests);
	fake.real = fake.by_hand = true;
	for (i = 0; i < guests; i++) {
		fake.guest[i].nr_vcpus = vcpus;
		fake.guest[i].samples = samples;
		/* More pages than are remembered: the tables are full, and pages are forgotten all the time. */
		fake.guest[i].span = 1 << 16;
	}
	d = (struct daemon){ .config = config_defaults(), .host.nr_nodes = nodes, .serve = serve, .version = "test" };
	strcpy(d.config.metrics, "scale.prom");
	log_begin(false);
	for (i = 0; i < periods; i++) {
		uint64_t took = period(&wall);

		/* The first ones make tables, and read all of xenstore. */
		if (i < 3)
			continue;
		cpu += took;
		if (took > most_cpu)
			most_cpu = took;
		if (wall > slowest)
			slowest = wall;
		if (i == 3)
			longest = 0;
	}
	for (i = 0; i < d.nr; i++) {
		running += d.guest[i]->sampling == SAMPLING_RUNS;
		orders += d.guest[i]->metrics.moves;
	}
	printf("{\"guests\": %u, \"sampled\": %u, \"vcpus\": %u, \"nodes\": %u, \"samples\": %u, \"periods\": %u, "
	       "\"memory_mb\": %.1f, \"counted_mb\": %.1f, \"cpu_percent\": %.1f, \"busiest_period_cpu_ms\": %.1f, "
	       "\"longest_period_ms\": %.1f, \"longest_unserved_ms\": %.1f, \"show_ms\": %.1f, \"move_orders\": %llu}\n",
	       guests, running, vcpus, nodes, samples, periods, memory_kib() / 1024.0, guests_bytes(&d) / 1048576.0,
	       100.0 * cpu / (periods - 3) / (d.config.period_ms * MS), most_cpu / 1e6, slowest / 1e6, longest / 1e6, show() / 1e6,
	       (unsigned long long)orders);
	sampling_end_all(&d);
	fake_end();
	unlink("scale.prom");
	return 0;
}
