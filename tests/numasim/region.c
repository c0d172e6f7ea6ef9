/* Epochs of a region: the difference of two looks at counters that go on meanwhile. */
#include <glib.h>
#include <string.h>

#include "region.h"
#include "report.h"

void region_begin(struct region *region)
{
	sim_clear(region->sim);
	memset(region->closed, 0, sizeof(region->closed));
	memset(region->closed_instructions, 0, sizeof(region->closed_instructions));
	memset(&region->totals, 0, sizeof(region->totals));
}

/* What counter has grown by since the last look. */
static double since(const uint64_t *counter, uint64_t *last)
{
	uint64_t now = counted(counter), grown = now - *last;

	*last = now;
	return grown;
}

static void look(struct region *region, unsigned int cpu, struct work *work)
{
	const struct counts *now = &region->sim->cpu[cpu]->counts;
	struct counts *last = &region->closed[cpu];
	uint64_t instructions = 0;

	for (enum mode mode = 0; mode < MODES; mode++) {
		instructions += region->instructions(cpu, mode);
		for (unsigned int node = 0; node < region->sim->machine->nodes; node++)
			work->misses[node] += since(&now->misses[mode][node], &last->misses[mode][node]);
	}
	for (unsigned int node = 0; node < region->sim->machine->nodes; node++)
		work->write_backs[node] = since(&now->write_backs[node], &last->write_backs[node]);
	work->l2_hits = since(&now->l2_hits, &last->l2_hits);
	work->l3_hits = since(&now->l3_hits, &last->l3_hits);
	work->instructions = since(&instructions, &region->closed_instructions[cpu]);
}

void region_epoch(struct region *region)
{
	g_autofree struct work *work = NULL;

	if (__atomic_exchange_n(&region->closing, true, __ATOMIC_ACQUIRE))
		return;
	work = g_new0(struct work, region->sim->machine->cpus);
	for (unsigned int cpu = 0; cpu < region->sim->machine->cpus; cpu++)
		if (region->sim->cpu[cpu])
			look(region, cpu, &work[cpu]);
	model_epoch(region->model, work, &region->totals);
	__atomic_store_n(&region->closing, false, __ATOMIC_RELEASE);
}

void region_end(struct region *region, unsigned int id, FILE *to)
{
	region_epoch(region);
	report(region, id, to);
}
