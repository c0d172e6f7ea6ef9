/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the recorded traces that lie in traces/: record NAME. */
#include <string.h>

#include "world.h"

/* 32 pages of one range of 2 MiB, a quarter for each node. */
static uint8_t quarters(struct guest *g, unsigned int page)
{
	(void)g;
	return page / 8 % pattern_nodes;
}

static const struct recording {
	const char *name;
	pattern *access;
	unsigned int pages, hot_pages, samples, periods;
	uint8_t on, order;
	bool slow_memory;
} recordings[] = {
	{ "master-slave-partitioned", partitioned, 96, 0, 120, 12, 0, ORDER_4K, false },
	{ "master-slave-shared", shared, 64, 0, 150, 14, 0, ORDER_4K, false },
	{ "alternating", alternating, 8, 0, 100, 16, 0, ORDER_4K, false },
	{ "fought-over", quarters, 2 * PAGES_IN_2M, 32, 120, 16, 0, ORDER_2M, false },
	{ "fought-over-in-vain", shared, 2 * PAGES_IN_2M, 32, 120, 16, 0, ORDER_2M, false },
	{ "slow-memory", shared, 96, 0, 150, 14, 0, ORDER_4K, true },
};

int main(int argc, char **argv)
{
	const struct recording *r = recordings;
	struct topology slow = world_slow_memory();
	struct world w;
	struct guest *g;

	while (argc != 2 || strcmp(argv[1], r->name))
		if (++r == recordings + ARRAY_SIZE(recordings))
			return 2;
	test_begin(1);
	world_begin(&w, 4, 1);
	if (r->slow_memory) {
		w.host.topology = &slow;
		pattern_nodes = 2;
	}
	w.config.cooldown_ms = 3000;
	w.config.split_ms = 6000;
	w.config.pages = 1024;
	g = world_add(&w, r->pages, r->on, r->order, r->access);
	g->samples = r->samples;
	g->hot_pages = r->hot_pages;
	w.trace = stdout;
	trace_write_begin(stdout, &w.config, &w.host);
	world_steps(&w, r->periods);
	trace_write_end(stdout);
	world_end(&w);
	return 0;
}
