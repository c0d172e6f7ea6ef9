/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "world.h"

#define EXTENT 1024		/* MiB, that libxl's builder asks for at a time, as long as there are any */
#define TRIFLE 50		/* a part of its memory that does not make a VM span */
#define LATE 15			/* minutes, of averages */

void world_begin(struct world *w, const struct shape *shape)
{
	unsigned int n;

	memset(w, 0, sizeof(*w));
	w->shape = *shape;
	for (n = 0; n < shape->nodes; n++)
		w->free[n] = shape->node_mib - (n ? 0 : shape->dom0_mib);
}

uint64_t world_free(const struct world *w)
{
	uint64_t mib = 0;
	unsigned int n;

	for (n = 0; n < w->shape.nodes; n++)
		mib += w->free[n];
	return mib;
}

/* Nodes in turn, as page_alloc.c's cycle_node(): as long as any has a whole piece. What is left over is returned. */
static uint64_t take_in_turn(struct world *w, struct vm *vm, uint64_t nodes, uint64_t piece, uint64_t left)
{
	unsigned int n = 0, without = 0;

	for (; left && without < w->shape.nodes; n = (n + 1) % w->shape.nodes) {
		uint64_t now = left < piece ? left : piece;

		without++;
		if (!(nodes >> n & 1) || w->free[n] < now)
			continue;
		w->free[n] -= now;
		vm->on[n] += now;
		left -= now;
		without = 0;
	}
	return left;
}

struct vm *world_add(struct world *w, const struct vm *new)
{
	struct vm *vm = &w->vm[w->nr++];
	uint64_t all = (1ULL << w->shape.nodes) - 1, left;

	*vm = *new;
	left = take_in_turn(w, vm, vm->affinity ? vm->affinity : all, EXTENT, vm->mib);
	left = take_in_turn(w, vm, vm->affinity ? vm->affinity : all, 2, left);
	left = take_in_turn(w, vm, all, 2, left);
	take_in_turn(w, vm, all, 1, left);
	vm->busy = vm->load;
	return vm;
}

void world_remove(struct world *w, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < w->shape.nodes; n++)
		w->free[n] += w->vm[i].on[n];
	memmove(&w->vm[i], &w->vm[i + 1], (--w->nr - i) * sizeof(*w->vm));
}

/* The least busy of @nodes that can take @load more; @full: or cannot. */
static unsigned int least_busy(const struct world *w, uint64_t nodes, double load, bool full)
{
	unsigned int n, best = NODES;

	for (n = 0; n < w->shape.nodes; n++)
		if (nodes >> n & 1 && (full || w->work[n] + load <= w->shape.threads) &&
		    (best == NODES || w->work[n] < w->work[best]))
			best = n;
	return best;
}

static void run_vm(struct world *w, struct vm *vm)
{
	uint64_t all = (1ULL << w->shape.nodes) - 1, home = vm->affinity ? vm->affinity : all;
	double load = vm->load / vm->vcpus;
	unsigned int v, n;

	memset(vm->ran, 0, sizeof(vm->ran));
	for (v = 0; v < vm->vcpus; v++) {
		n = least_busy(w, home, load, false);
		if (n == NODES)
			n = least_busy(w, all, load, false);
		if (n == NODES)
			n = least_busy(w, home, load, true);
		w->work[n] += load;
		vm->ran[n] += (1 - w->shape.strays) / vm->vcpus;
	}
	for (n = 0; n < w->shape.nodes; n++)
		vm->ran[n] += w->shape.strays / w->shape.nodes;
	vm->busy += (vm->load - vm->busy) / LATE;
	vm->peak = vm->busy > vm->peak ? vm->busy : vm->peak;
	vm->usual += (vm->load - vm->usual) / ++vm->ran_for;
}

void world_run(struct world *w)
{
	unsigned int i;

	memset(w->work, 0, sizeof(w->work));
	for (i = 0; i < w->nr; i++)
		run_vm(w, &w->vm[i]);
	for (i = 0; i < w->shape.nodes; i++)
		w->crowded[i] = w->work[i] > w->shape.cores ? w->crowded[i] + 1 : 0;
}

static void move(struct world *w, struct vm *vm, unsigned int from, unsigned int to, uint64_t mib)
{
	vm->on[from] -= mib;
	w->free[from] += mib;
	vm->on[to] += mib;
	w->free[to] -= mib;
}

uint64_t world_gather(struct world *w, struct vm *vm, uint64_t home, uint64_t mib)
{
	uint64_t want[NODES] = { 0 }, left = vm->mib, moved = 0, todo = home;
	unsigned int n, from, to;

	/* What each is to have: those with the least room first. */
	while (todo) {
		unsigned int least = NODES, parts = __builtin_popcountll(todo);
		uint64_t room;

		for (n = 0; n < w->shape.nodes; n++)
			if (todo >> n & 1 && (least == NODES || w->free[n] + vm->on[n] < w->free[least] + vm->on[least]))
				least = n;
		room = w->free[least] + vm->on[least];
		want[least] = left / parts < room ? left / parts : room;
		left -= want[least];
		todo &= ~(1ULL << least);
	}
	for (to = 0; to < w->shape.nodes; to++)
		for (from = 0; from < w->shape.nodes && vm->on[to] < want[to]; from++) {
			uint64_t now = vm->on[from] > want[from] ? vm->on[from] - want[from] : 0;

			now = now < want[to] - vm->on[to] ? now : want[to] - vm->on[to];
			now = now < mib - moved ? now : mib - moved;
			if (from == to || !now)
				continue;
			move(w, vm, from, to, now);
			moved += now;
		}
	return moved;
}

double world_local_of(const struct world *w, const struct vm *vm)
{
	double local = 0;
	unsigned int n;

	for (n = 0; n < w->shape.nodes; n++)
		local += vm->ran[n] * vm->on[n] / vm->mib;
	return local;
}

double world_local(const struct world *w)
{
	double local = 0, mib = 0;
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		local += w->vm[i].mib * world_local_of(w, &w->vm[i]);
		mib += w->vm[i].mib;
	}
	return mib ? local / mib : 1;
}

static bool spans(const struct world *w, const struct vm *vm)
{
	bool fits = false;
	uint64_t most = 0;
	unsigned int n;

	for (n = 0; n < w->shape.nodes; n++) {
		most = vm->on[n] > most ? vm->on[n] : most;
		fits |= w->free[n] + vm->on[n] >= vm->mib;
	}
	return fits && vm->vcpus <= w->shape.cores && vm->mib - most > vm->mib / TRIFLE;
}

unsigned int world_spans(const struct world *w)
{
	unsigned int i, nr = 0;

	for (i = 0; i < w->nr; i++)
		nr += spans(w, &w->vm[i]);
	return nr;
}
