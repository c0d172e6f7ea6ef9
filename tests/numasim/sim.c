/* SPDX-License-Identifier: GPL-2.0-only */
/* From an access to a count: L2 of the CPU, L3 of the node, node of the memory. */
#include <glib.h>
#include <string.h>

#include "sharing.h"
#include "sim.h"

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
	if (machine->coherent)
		sim->sharing = sharing_new(sim->mibs << (MIB_SHIFT - LINE_SHIFT));
	if (machine->translation)
		sim->memory = memory_new(sim->mibs);
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
		if (sim->sharing)
			sharing_add(sim->sharing, cpu);
		if (machine->translation)
			cpu->tlb = tlb_new(machine->translation, sim->memory);
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
		if (sim->cpu[i]->tlb)
			tlb_free(sim->cpu[i]->tlb);
		g_aligned_free(sim->cpu[i]);
	}
	for (unsigned int node = 0; node < MAX_NODES; node++)
		g_free(sim->l3[node]);
	sharing_free(sim->sharing);
	g_free(sim->memory);
	g_free(sim->node_of_mib);
	g_free(sim);
}

void sim_clear(struct sim *sim)
{
	sim->told = 0;
	if (sim->sharing)
		sharing_clear(sim->sharing);
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
		if (cpu->tlb)
			tlb_empty(cpu->tlb);
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

enum level { L2, L3, MEMORY };

/* A line comes to the L2; returns from where. */
static enum level fetch(struct sim *sim, struct sim_cpu *cpu, uint32_t line, cached dirty)
{
	cached found = cache_take(cpu->l2, line);

	if (found != NO_LINE) {
		cache_put(cpu->l2, found | dirty);
		return L2;
	}
	found = cache_take(cpu->l3, line);
	if (found != NO_LINE) {
		put(sim, cpu, found | dirty);
		return L3;
	}
	put(sim, cpu, line << 1 | dirty);
	return MEMORY;
}

bool sim_beyond_l1(struct sim *sim, struct sim_cpu *cpu, enum hit hit, enum mode mode, uint64_t address, bool store)
{
	uint32_t line = address >> LINE_SHIFT;
	cached dirty = store ? DIRTY : 0;
	int node = node_accessed(sim, cpu, address);
	bool others = false;

	if (node == NO_NODE)
		return false;
	if (sim->sharing)
		others = store ? sharing_write(sim->sharing, cpu, line) : sharing_read(sim->sharing, cpu, line);
	if (hit == HIT_CLEAN) {
		/* The L1 has it, so nothing is fetched; below, the line must become dirty wherever it is by now. */
		if (!cache_dirty(cpu->l2, line) && !cache_dirty(cpu->l3, line))
			put(sim, cpu, line << 1 | DIRTY);
		return false;
	}
	switch (fetch(sim, cpu, line, dirty)) {
	case L2:
		count(&cpu->counts.l2_hits[mode], 1);
		return false;
	case L3:
		count(&cpu->counts.l3_hits[mode], 1);
		return false;
	case MEMORY:
		break;
	}
	count(&cpu->counts.misses[mode][node], 1);
	if (others)
		count(&cpu->counts.handed_over[mode], 1);
	return time_to_look(sim, cpu);
}

/* An entry of a page table is read, below the L1. */
static bool walk_step(struct sim *sim, struct sim_cpu *cpu, enum mode mode, uint64_t address)
{
	uint32_t line = address >> LINE_SHIFT;
	int node = node_accessed(sim, cpu, address);

	if (node == NO_NODE)
		return false;
	if (sim->sharing)
		sharing_read(sim->sharing, cpu, line);
	switch (fetch(sim, cpu, line, 0)) {
	case L2:
		count(&cpu->counts.walk_l2_hits[mode], 1);
		return false;
	case L3:
		count(&cpu->counts.walk_l3_hits[mode], 1);
		return false;
	case MEMORY:
		break;
	}
	count(&cpu->counts.walk_misses[mode][node], 1);
	return time_to_look(sim, cpu);
}

bool sim_translate(struct sim *sim, struct sim_cpu *cpu, enum mode mode, const struct paging *paging, uint64_t address)
{
	bool look = false;

	switch (tlb_translate(cpu->tlb, paging, address)) {
	case IN_L1:
		return false;
	case IN_L2:
		count(&cpu->counts.tlb_hits[mode], 1);
		return false;
	case LOST:
		count(&cpu->counts.walks_lost, 1);
		return false;
	case WALKED:
		break;
	}
	count(&cpu->counts.walks[mode], 1);
	for (unsigned int i = 0; i < cpu->tlb->references; i++)
		look |= walk_step(sim, cpu, mode, cpu->tlb->reference[i]);
	return look;
}

void sim_stream(struct sim *sim, struct sim_cpu *cpu, uint64_t address)
{
	uint32_t line = address >> LINE_SHIFT;
	int node = node_accessed(sim, cpu, address);

	if (node == NO_NODE)
		return;
	if (sim->sharing)
		sharing_stream(sim->sharing, cpu, line);
	cache_take(cpu->l2, line);
	cache_take(cpu->l3, line);	/* there may be another CPU's */
	if (line != cpu->streamed)
		count(&cpu->counts.write_backs[node], 1);
	cpu->streamed = line;
}
