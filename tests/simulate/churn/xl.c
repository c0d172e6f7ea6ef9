/* SPDX-License-Identifier: GPL-2.0-only */
#include "xl.h"

struct candidate {
	uint64_t nodes, free;
	unsigned int vcpus;
};

/* What libxl asks to be free: memory, and its own estimate of what shadow or p2m tables take. */
static uint64_t needs(const struct vm *vm)
{
	return vm->mib + vm->vcpus + vm->mib / 128;
}

static void count_vcpus(const struct world *w, unsigned int vcpus[NODES])
{
	unsigned int i, n;

	for (i = 0; i < w->nr; i++)
		for (n = 0; n < w->shape.nodes; n++)
			if (!w->vm[i].affinity || w->vm[i].affinity >> n & 1)
				vcpus[n] += w->vm[i].vcpus;
}

/* The set of as many bits that comes next in libxl's order, which is that of the sorted lists of members. */
static bool next_set(uint64_t *nodes, unsigned int nr)
{
	unsigned int at[NODES], k = 0, n, i;

	for (n = 0; n < nr; n++)
		if (*nodes >> n & 1)
			at[k++] = n;
	for (i = k; i-- && at[i] == nr - k + i; )
		;
	if (i == -1U)
		return false;
	for (at[i]++; ++i < k; )
		at[i] = at[i - 1] + 1;
	for (*nodes = 0, i = 0; i < k; i++)
		*nodes |= 1ULL << at[i];
	return true;
}

uint64_t xl_place(const struct world *w, const struct vm *vm)
{
	unsigned int vcpus[NODES] = { 0 }, size, n, nr = w->shape.nodes;
	struct candidate best = { 0 };

	count_vcpus(w, vcpus);
	for (size = (vm->vcpus + w->shape.threads - 1) / w->shape.threads; size <= nr && !best.nodes; size++) {
		uint64_t nodes = (1ULL << size) - 1;

		do {
			struct candidate now = { .nodes = nodes };

			for (n = 0; n < nr; n++)
				if (nodes >> n & 1) {
					now.free += w->free[n];
					now.vcpus += vcpus[n];
				}
			if (now.free < needs(vm) || size * w->shape.threads < vm->vcpus)
				continue;
			if (!best.nodes || now.vcpus < best.vcpus || (now.vcpus == best.vcpus && now.free > best.free))
				best = now;
		} while (next_set(&nodes, nr));
	}
	return best.nodes;
}
