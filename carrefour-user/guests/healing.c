/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "guests/healing.h"

#define LATE_NS (900000 * MS)	/* that "of late" is: as long as a node has to be crowded */

struct healing_vm *healing_find(const struct healing *h, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < h->nr; i++)
		if (h->vm[i].id == id)
			return &h->vm[i];
	return NULL;
}

struct healing_vm *healing_of(struct healing *h, unsigned int id, uint64_t now)
{
	struct healing_vm *new;
	unsigned int i;

	for (i = 0; i < h->nr && h->vm[i].id < id; i++)
		;
	if (i < h->nr && h->vm[i].id == id)
		return &h->vm[i];
	new = realloc(h->vm, (h->nr + 1) * sizeof(*new));
	if (!new)
		return NULL;
	h->vm = new;
	memmove(&new[i + 1], &new[i], (h->nr++ - i) * sizeof(*new));
	new[i] = (struct healing_vm){ .id = id, .seen_at = now, .left = LEFT_YOUNG };
	return &new[i];
}

void healing_drop(struct healing *h)
{
	unsigned int i, kept = 0;

	for (i = 0; i < h->nr; i++)
		if (h->vm[i].there)
			h->vm[kept++] = h->vm[i];
	h->nr = kept;
}

void healing_free(struct healing *h)
{
	free(h->vm);
	memset(h, 0, sizeof(*h));
}

void healing_used(struct healing_vm *vm, uint64_t cpu_ns, uint64_t now)
{
	uint64_t ns = now - vm->asked_at, used = cpu_ns - vm->cpu_ns;
	bool first = !vm->asked_at || cpu_ns < vm->cpu_ns;	/* a new domain may have the number of an old one */
	double load, part;

	vm->asked_at = now;
	vm->cpu_ns = cpu_ns;
	if (first) {
		vm->seen_at = now;
		vm->used_ns = 0;
		vm->peak = 0;
		vm->known = false;
		vm->home_at = 0;
		vm->unmovable = false;
		vm->stuck_until = vm->stuck_ns = 0;
	}
	if (first || !ns)
		return;
	load = (double)used / ns;
	part = ns < LATE_NS ? (double)ns / LATE_NS : 1;
	vm->load = vm->known ? vm->load + (load - vm->load) * part : load;
	vm->peak = vm->load > vm->peak ? vm->load : vm->peak;
	vm->used_ns += used;
	vm->known = true;
}

void healing_nodes(struct healing *h, const struct xen_node_load load[NODES_MAX], unsigned int nr, uint64_t now)
{
	uint64_t ns = now - h->nodes_at;
	unsigned int n;

	for (n = 0; n < nr; n++) {
		double idle = ns ? (double)(load[n].idle_ns - h->idle_ns[n]) / ns : 0;
		/* CPUs that have come or gone since make it less or more than it was: then it is not known. */
		bool known = h->nodes_at && load[n].idle_ns >= h->idle_ns[n];

		h->crowded_ns[n] = known && load[n].cpus - idle > load[n].cores ? h->crowded_ns[n] + ns : 0;
		h->idle_ns[n] = load[n].idle_ns;
	}
	h->nodes_at = now;
}
