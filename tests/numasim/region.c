/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows of a region: the difference of two looks at counters that go on meanwhile. */
#include <glib.h>
#include <string.h>

#include "region.h"
#include "report.h"

void region_init(struct region *region, struct sim *sim, const struct model *model, instructions_fn instructions)
{
	*region = (struct region){ .sim = sim, .model = model, .instructions = instructions };
	windows_init(&region->windows, sim->machine->cpus);
}

void region_free(struct region *region)
{
	windows_free(&region->windows);
}

void region_begin(struct region *region)
{
	sim_clear(region->sim);
	windows_clear(&region->windows);
	memset(region->seen, 0, sizeof(region->seen));
	memset(region->seen_instructions, 0, sizeof(region->seen_instructions));
	memset(&region->totals, 0, sizeof(region->totals));
}

/* What counter has grown by since the last look. */
static double since(const uint64_t *counter, uint64_t *last)
{
	uint64_t now = counted(counter), grown = now - *last;

	*last = now;
	return grown;
}

/* Walks of page tables: what they cost goes by the same rules as other accesses. */
static void look_at_walks(const struct counts *now, struct counts *last, enum mode mode, struct work *work)
{
	for (unsigned int node = 0; node < MAX_NODES; node++)
		work->misses[node] += since(&now->walk_misses[mode][node], &last->walk_misses[mode][node]);
	if (mode == XEN)
		return;
	work->tlb_hits += since(&now->tlb_hits[mode], &last->tlb_hits[mode]);
	work->l2_hits += since(&now->walk_l2_hits[mode], &last->walk_l2_hits[mode]);
	work->l3_hits += since(&now->walk_l3_hits[mode], &last->walk_l3_hits[mode]);
}

static void look(struct region *region, unsigned int cpu, struct work *work)
{
	const struct counts *now = &region->sim->cpu[cpu]->counts;
	struct counts *last = &region->seen[cpu];
	uint64_t instructions = 0;

	for (enum mode mode = 0; mode < MODES; mode++) {
		for (unsigned int node = 0; node < region->sim->machine->nodes; node++)
			work->misses[node] += since(&now->misses[mode][node], &last->misses[mode][node]);
		look_at_walks(now, last, mode, work);
		if (mode == XEN)
			continue;	/* how much of that there is goes by the emulator's clock: README.md */
		instructions += region->instructions(cpu, mode);
		work->l2_hits += since(&now->l2_hits[mode], &last->l2_hits[mode]);
		work->l3_hits += since(&now->l3_hits[mode], &last->l3_hits[mode]);
	}
	for (unsigned int node = 0; node < region->sim->machine->nodes; node++)
		work->write_backs[node] += since(&now->write_backs[node], &last->write_backs[node]);
	work->instructions += since(&instructions, &region->seen_instructions[cpu]);
}

void region_look(struct region *region)
{
	struct work *work;

	if (__atomic_exchange_n(&region->looking, true, __ATOMIC_ACQUIRE))
		return;
	work = windows_next(&region->windows);
	for (unsigned int cpu = 0; cpu < region->sim->machine->cpus; cpu++)
		if (region->sim->cpu[cpu])
			look(region, cpu, &work[cpu]);
	__atomic_store_n(&region->looking, false, __ATOMIC_RELEASE);
}

double region_walk_cycles(const struct region *region, unsigned int cpu)
{
	struct counts nothing = { 0 };
	struct work work = { 0 };

	for (enum mode mode = 0; mode < MODES; mode++)
		look_at_walks(&region->sim->cpu[cpu]->counts, &nothing, mode, &work);
	return model_uncontended(region->model, cpu, &work);
}

void region_end(struct region *region, unsigned int id, FILE *to)
{
	region_look(region);
	epochs_add(region->model, &region->windows, &region->totals);
	report(region, id, to);
}
