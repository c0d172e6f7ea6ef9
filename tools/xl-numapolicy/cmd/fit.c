/* SPDX-License-Identifier: GPL-2.0-only */
/* Formulas of integers, so that a share that is exact is printed so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fit.h"

#define IN_USE 100	/* 1 / that of the memory makes a node one that is in use */

static int larger_first(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* The fewest nodes that have @wanted together; all of them if they never have. */
static unsigned int fewest(const uint64_t *has, unsigned int nr, uint64_t wanted)
{
	uint64_t sorted[NODES_MAX], sum = 0;
	unsigned int i;

	memcpy(sorted, has, nr * sizeof(*has));
	qsort(sorted, nr, sizeof(*sorted), larger_first);
	for (i = 0; i < nr && sum < wanted; i++)
		sum += sorted[i];
	return i;
}

/* Nodes without CPUs can be home, but nothing there is local. */
static unsigned int nodes_needed(uint64_t memory, uint64_t vcpus, const struct nodes *nodes)
{
	uint64_t bytes[NODES_MAX], cpus[NODES_MAX];
	unsigned int node, nr = 0, by_memory, by_vcpus;

	for (node = 0; node < nodes->nr; node++) {
		if (!nodes->memory[node] || !nodes->cpus[node])
			continue;
		bytes[nr] = nodes->bytes[node];
		cpus[nr++] = nodes->cpus[node];
	}
	by_memory = fewest(bytes, nr, memory);
	by_vcpus = fewest(cpus, nr, vcpus);
	return by_memory > by_vcpus ? by_memory : by_vcpus;
}

/* The standard deviation of memory on the nodes with vCPUs. */
static void find_imbalance(struct fit *fit, const struct placement *p)
{
	double sum = 0, squares = 0, mean;
	unsigned int node, nr = 0;

	for (node = 0; node < NODES_MAX; node++) {
		if (!p->vcpus[node])
			continue;
		sum += p->memory[node];
		squares += (double)p->memory[node] * p->memory[node];
		nr++;
	}
	mean = sum / nr;
	if (!sum)
		return;
	fit->imbalance.whole = 1000;
	if (squares / nr > mean * mean)
		fit->imbalance.part = 1000 * sqrt(squares / nr - mean * mean) / mean + 0.5;
}

/* Of two factors, each a share: exact unless that is more than a share has room for. */
static struct share product(struct share a, uint64_t part, uint64_t whole)
{
	unsigned __int128 all = (unsigned __int128)a.whole * whole, some = (unsigned __int128)a.part * part;

	for (; all >> 53; all >>= 1)
		some >>= 1;
	return (struct share){ some, all };
}

bool fit_of(struct fit *fit, const struct placement *p, const struct nodes *nodes)
{
	uint64_t memory = 0, bytes, vcpus = 0, squares = 0, both = 0, even = 0, spread;
	unsigned int node;

	*fit = (struct fit){ 0 };
	for (node = 0; node < NODES_MAX; node++) {
		memory += p->memory[node];
		vcpus += p->vcpus[node];
		squares += (uint64_t)p->vcpus[node] * p->vcpus[node];
	}
	if (!memory || !vcpus)
		return false;
	bytes = memory;
	memory /= PAGE_BYTES;
	for (node = 0; node < NODES_MAX; node++) {
		uint64_t here = p->memory[node] / PAGE_BYTES, v = p->vcpus[node];

		both += here * vcpus < v * memory ? here * vcpus : v * memory;
		even += here * v;
		fit->in_use += v || p->memory[node] >= bytes / IN_USE;
	}
	fit->needed = nodes_needed(bytes, vcpus, nodes);
	fit->overlap = (struct share){ both, memory * vcpus };
	fit->even = (struct share){ even, memory * vcpus };
	/* Spread over more nodes than it needs, each vCPU has less of the memory beside it than it could have. */
	spread = fit->needed * squares;
	fit->estimate = spread < vcpus * vcpus ? product(fit->overlap, spread, vcpus * vcpus) : fit->overlap;
	find_imbalance(fit, p);
	return true;
}

unsigned int fit_permille(const struct placement *placement, const struct nodes *nodes)
{
	struct fit fit;

	if (!fit_of(&fit, placement, nodes))
		return 0;
	return fit.estimate.part * 1000 / fit.estimate.whole;
}
