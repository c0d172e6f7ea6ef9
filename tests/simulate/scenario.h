/* SPDX-License-Identifier: GPL-2.0-only */
/* What is simulated, from a file: README.md has its words. */
#ifndef SIMULATE_SCENARIO_H
#define SIMULATE_SCENARIO_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"
#include "memory.h"

#define EVENTS 256

/* From that second on an area is used so. */
struct event {
	unsigned int second, area;
	struct use use;
};

struct scenario {
	struct config config;
	struct memory memory;		/* areas, but not placed */
	unsigned int seconds, every, seed, overlap;
	double instructions;		/* of a thread, for each miss */
	uint64_t node_mib;		/* of each node; 0: enough for all on one */
	enum placement placement;
	bool carrefour, adaptive, pinned;	/* adaptive: auto is on */
	unsigned int scan_ms;		/* of accessed bits; 0: Xen's regions say where to look */
	unsigned int wander_s, wander_pairs;
	struct event event[EVENTS];	/* in order */
	unsigned int events;
};

/* False: *error has one line. */
bool scenario_read(struct scenario *s, FILE *file, const char *name, char *error, size_t size);

/* As the policies are called. */
const char *placement_name(enum placement placement);

#endif
