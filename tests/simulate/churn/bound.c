/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "bound.h"

/* All of its vCPUs on the node that has most of its memory; no node has more than the ones without dom0. */
static double best_of(const struct shape *s, const struct vm *vm)
{
	return vm->mib > s->node_mib ? (double)s->node_mib / vm->mib : 1;
}

double bound_local(const struct world *w)
{
	double local = 0, mib = 0;
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		local += w->vm[i].mib * best_of(&w->shape, &w->vm[i]);
		mib += w->vm[i].mib;
	}
	return mib ? local / mib : 1;
}

static int larger(const void *a, const void *b)
{
	const struct vm *x = a, *y = b;

	return x->mib != y->mib ? (x->mib < y->mib ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static uint64_t least_work(const struct world *w, const struct vm *vm, const double work[NODES])
{
	unsigned int n, best = NODES, most;
	uint64_t nodes = 0, room = 0;

	for (n = 0; n < w->shape.nodes; n++)
		if (w->free[n] >= vm->mib && (best == NODES || work[n] < work[best]))
			best = n;
	if (best < NODES)
		return 1ULL << best;
	/* On none: on those that have most room, as few as will do. */
	while (room < vm->mib && nodes != (1ULL << w->shape.nodes) - 1) {
		most = NODES;
		for (n = 0; n < w->shape.nodes; n++)
			if (!(nodes >> n & 1) && (most == NODES || w->free[n] > w->free[most]))
				most = n;
		nodes |= 1ULL << most;
		room += w->free[most];
	}
	return nodes;
}

double bound_repacked(const struct world *w)
{
	static struct world new;
	static struct vm sorted[VMS];
	double work[NODES] = { 0 };
	unsigned int i, n;

	world_begin(&new, &w->shape);
	memcpy(sorted, w->vm, w->nr * sizeof(*sorted));
	qsort(sorted, w->nr, sizeof(*sorted), larger);
	for (i = 0; i < w->nr; i++) {
		memset(sorted[i].on, 0, sizeof(sorted[i].on));
		sorted[i].affinity = least_work(&new, &sorted[i], work);
		for (n = 0; n < w->shape.nodes; n++)
			if (sorted[i].affinity >> n & 1)
				work[n] += sorted[i].load / __builtin_popcountll(sorted[i].affinity);
		world_add(&new, &sorted[i]);
	}
	world_run(&new);
	return world_local(&new);
}
