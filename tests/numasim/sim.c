/* SPDX-License-Identifier: GPL-2.0-only */
/* From an access to a count: L2 of the CPU, L3 of the node, node of the memory. */
#include <glib.h>
#include <string.h>

#include "sim.h"


#define MIB_SHIFT 20
#define REPORT 256		/* misses a CPU keeps to itself before it tells the others */

const char *const mode_names[MODES] = { "user", "kernel", "xen" };

static void map_memory(struct sim *sim)
{
	const struct machine *m = sim->machine;

	for (unsigned int pass = 0; pass < 2; pass++) {
		for (unsigned int node = 0; node < m->nodes; node++)
			for (unsigned int i = 0; i < m->node[node].ranges; i++) {
				const struct range *r = &m->node[node].range[i];

				if (pass)
					memset(sim->node_of_mib + (r->from >> MIB_SHIFT), node + 1, (r->to - r->from) >> MIB_SHIFT);
				else
					sim->mibs = MAX(sim->mibs, r->to >> MIB_SHIFT);
			}
		if (!pass)
			sim->node_of_mib = g_malloc0(sim->mibs);
	}
}

struct sim *sim_new(const struct machine *machine)
{
	struct sim *sim = g_new0(struct sim, 1);

	sim->machine = machine;
	sim->window = MAX(1, machine->epoch / LOOKS_AN_EPOCH);
	map_memory(sim);
	for (unsigned int i = 0; i < machine->cpus; i++) {
		struct sim_cpu *cpu;
		int node = machine->node_of_cpu[i];

		if (!machine->watched[i])
			continue;
		if (!sim->l3[node])
			sim->l3[node] = cache_new(&machine->l3);
		/* not on one host line with another CPU's */
		cpu = sim->cpu[i] = g_aligned_alloc0(1, sizeof(*cpu), _Alignof(struct sim_cpu));
		cpu->node = node;
		cpu->streamed = NO_LINE;
		cpu->l1 = filter_new(&machine->l1);
		cpu->l2 = cache_new(&machine->l2);
		cpu->l3 = sim->l3[node];
	}
	return sim;
}

void sim_free(struct sim *sim)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		if (!sim->cpu[i])
			continue;
		g_free(sim->cpu[i]->l1);
		g_free(sim->cpu[i]->l2);
		g_aligned_free(sim->cpu[i]);
	}
	for (unsigned int node = 0; node < MAX_NODES; node++)
		g_free(sim->l3[node]);
	g_free(sim->node_of_mib);
	g_free(sim);
}

void sim_clear(struct sim *sim)
{
	sim->told = 0;
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		struct sim_cpu *cpu = sim->cpu[i];

		if (!cpu)
			continue;
		memset(&cpu->counts, 0, sizeof(cpu->counts));
		cpu->unreported = 0;
		cpu->streamed = NO_LINE;
		cpu->idle = false;
		filter_empty(cpu->l1);
		cache_empty(cpu->l2);
		cache_empty(cpu->l3);
	}
}

static int node_of(const struct sim *sim, uint64_t address)
{
	uint64_t mib = address >> MIB_SHIFT;

	return mib < sim->mibs ? sim->node_of_mib[mib] - 1 : NO_NODE;
}

/* The same of what a CPU accesses, where NO_NODE is an error of whoever described the machine. */
static int node_accessed(const struct sim *sim, struct sim_cpu *cpu, uint64_t address)
{
	int node = node_of(sim, address);

	if (node == NO_NODE) {
		count(&cpu->counts.nowhere, 1);
		cpu->counts.nowhere_address = address;
	}
	return node;
}

/* Into the L2; what that drives out goes to the L3, and what that drives out, if it was written, to its memory. */
static void put(struct sim *sim, struct sim_cpu *cpu, cached line)
{
	cached out = cache_put(cpu->l2, line);

	if (out != NO_LINE)
		out = cache_put(cpu->l3, out);
	if (out != NO_LINE && out & DIRTY)
		count(&cpu->counts.write_backs[node_of(sim, (uint64_t)(out >> 1) << LINE_SHIFT)], 1);
}

static bool time_to_look(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t told;

	if (++cpu->unreported < REPORT)
		return false;
	cpu->unreported = 0;
	told = __atomic_add_fetch(&sim->told, REPORT, __ATOMIC_RELAXED);
	return told / sim->window != (told - REPORT) / sim->window;
}

bool sim_beyond_l1(struct sim *sim, struct sim_cpu *cpu, enum hit hit, enum mode mode, uint64_t address, bool store)
{
	uint32_t line = address >> LINE_SHIFT;
	cached dirty = store ? DIRTY : 0;
	int node = node_accessed(sim, cpu, address);
	cached found;

	if (node == NO_NODE)
		return false;
	if (hit == HIT_CLEAN) {
		/* The L1 has it, so nothing is fetched; below, the line must become dirty wherever it is by now. */
		if (!cache_dirty(cpu->l2, line) && !cache_dirty(cpu->l3, line))
			put(sim, cpu, line << 1 | DIRTY);
		return false;
	}
	found = cache_take(cpu->l2, line);
	if (found != NO_LINE) {
		count(&cpu->counts.l2_hits[mode], 1);
		cache_put(cpu->l2, found | dirty);
		return false;
	}
	found = cache_take(cpu->l3, line);
	if (found != NO_LINE) {
		count(&cpu->counts.l3_hits[mode], 1);
		put(sim, cpu, found | dirty);
		return false;
	}
	count(&cpu->counts.misses[mode][node], 1);
	put(sim, cpu, line << 1 | dirty);
	return time_to_look(sim, cpu);
}

void sim_stream(struct sim *sim, struct sim_cpu *cpu, uint64_t address)
{
	uint32_t line = address >> LINE_SHIFT;
	int node = node_accessed(sim, cpu, address);

	if (node == NO_NODE)
		return;
	cache_take(cpu->l2, line);
	cache_take(cpu->l3, line);	/* there may be another CPU's */
	if (line != cpu->streamed)
		count(&cpu->counts.write_backs[node], 1);
	cpu->streamed = line;
}
