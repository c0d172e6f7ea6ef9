/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine that is modelled: nodes, links, routes, caches, latencies.  Filled from the plugin's parameters, then constant. */
#ifndef NUMASIM_MACHINE_H
#define NUMASIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "translation.h"

#define LINE_BYTES 64
#define MAX_CPUS 256
#define MAX_NODES 32
#define MAX_COHERENT 31u	/* CPUs that are watched if they take lines from each other */
#define MAX_RANGES 8		/* of memory, a node */
#define MAX_LINKS 128		/* directed: one between two nodes counts twice */
#define MAX_HOPS 2
#define CLASSES (MAX_HOPS + 1)	/* of latency: local, near and far, or by hops */
#define NO_NODE (-1)

struct range {
	uint64_t from, to;	/* machine physical, `to` is the first byte behind */
};

struct node {
	unsigned int ranges;
	struct range range[MAX_RANGES];
};

/* One direction of a link. */
struct link {
	int from, to;
	double bandwidth;	/* GiB/s */
	unsigned int class;	/* of latency, if data takes no other link */
};

/* The links that data from one node to another takes; none when they are the same. */
struct route {
	unsigned int hops;
	int link[MAX_HOPS];
	unsigned int class;	/* of latency: 0 local, else that of the one link, or 2 */
};

struct geometry {
	uint64_t bytes;
	unsigned int ways, sets;
};

/* Virtual addresses of code: a CPU that executes some of [from, to) is idle until it comes to `awake`. */
struct idle {
	uint64_t from, to, awake;
};

struct machine {
	const char *name;
	char *out;
	unsigned int nodes, cpus, links;
	struct node node[MAX_NODES];
	int node_of_cpu[MAX_CPUS];	/* or NO_NODE */
	bool watched[MAX_CPUS];
	struct link link[MAX_LINKS];
	struct route route[MAX_NODES][MAX_NODES];	/* [from][to] */
	struct geometry l1, l2, l3;
	double hit[2];			/* cycles of a hit in L2, L3 */
	double alone[CLASSES];		/* cycles of an access to memory, by class, when there is no other */
	double loaded[CLASSES];		/* the same when `loaded_threads` of every node use one controller at a time */
	double loaded_threads;
	double controller;		/* GiB/s */
	double cpu_hz;
	double stands_for;		/* CPUs of the modelled machine that an emulated one stands for */
	double epoch;			/* misses of all watched CPUs */
	const struct translation *translation;	/* NULL: free */
	bool coherent;			/* a CPU's store takes the line from all others */
	struct idle idle;
};

/*
 * Fills a machine from the plugin's words "name=value"; `cpus` are those that are emulated.  Returns NULL, or what is wrong with
 * the words, to be freed with g_free().  The machine may be used only after NULL, and is left with machine_free().
 */
char *machine_parse(struct machine *m, int words, char *const *word, unsigned int cpus);
void machine_free(struct machine *m);

/* Bytes that a controller or link of `gib` GiB/s moves in a cycle of the CPUs. */
static inline double bytes_a_cycle(const struct machine *m, double gib)
{
	return gib * (1u << 30) / m->cpu_hz;
}

/* The parameters in force, as a JSON object. */
void machine_print(const struct machine *m, FILE *to);

#endif
