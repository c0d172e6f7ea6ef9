/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums over a region and its JSON. */
#include <inttypes.h>
#include <math.h>

#include "report.h"

#define LOST_MOST 0.001		/* of all walks: an entry may have changed between the access and the walk */

static void print_list(FILE *to, const uint64_t *value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		fprintf(to, "%s%" PRIu64, i ? ", " : "[", value[i]);
	fputs("]", to);
}

double relative_deviation(const double *value, unsigned int n)
{
	double sum = 0, squares = 0, mean;

	for (unsigned int i = 0; i < n; i++)
		sum += value[i];
	mean = sum / n;
	for (unsigned int i = 0; i < n; i++)
		squares += (value[i] - mean) * (value[i] - mean);
	return sum > 0 ? sqrt(squares / n) / mean : 0;
}

static void print_by_mode(const char *name, const uint64_t *value, FILE *to)
{
	fprintf(to, "\"%s\": {", name);
	for (enum mode mode = 0; mode < MODES; mode++)
		fprintf(to, "%s\"%s\": %" PRIu64, mode ? ", " : "", mode_names[mode], value[mode]);
	fputs("}, ", to);
}

static void print_by_node(const char *name, const uint64_t (*value)[MAX_NODES], unsigned int nodes, FILE *to)
{
	fprintf(to, "\"%s\": {", name);
	for (enum mode mode = 0; mode < MODES; mode++) {
		fprintf(to, "%s\"%s\": ", mode ? ", " : "", mode_names[mode]);
		print_list(to, value[mode], nodes);
	}
	fputs("}, ", to);
}

static void print_translation(const struct counts *c, unsigned int nodes, FILE *to)
{
	print_by_mode("tlb_hits", c->tlb_hits, to);
	print_by_mode("walks", c->walks, to);
	fprintf(to, "\"walks_lost\": %" PRIu64 ", ", c->walks_lost);
	print_by_mode("walk_l2_hits", c->walk_l2_hits, to);
	print_by_mode("walk_l3_hits", c->walk_l3_hits, to);
	print_by_node("walk_misses", c->walk_misses, nodes, to);
}

static void print_cpu(const struct region *region, unsigned int cpu, FILE *to)
{
	const struct machine *m = region->sim->machine;
	const struct counts *c = &region->sim->cpu[cpu]->counts;
	const struct cpu_time *t = &region->totals.cpu[cpu];

	fprintf(to, "{\"cpu\": %u, \"node\": %d, \"instructions\": {", cpu, m->node_of_cpu[cpu]);
	for (enum mode mode = 0; mode < MODES; mode++)
		fprintf(to, "%s\"%s\": %" PRIu64, mode ? ", " : "", mode_names[mode], region->instructions(cpu, mode));
	fputs("}, ", to);
	print_by_mode("accesses", c->accesses, to);
	fprintf(to, "\"idle_accesses\": %" PRIu64 ", ", c->idle);
	print_by_mode("l2_hits", c->l2_hits, to);
	print_by_mode("l3_hits", c->l3_hits, to);
	print_by_node("misses", c->misses, m->nodes, to);
	if (m->coherent)
		print_by_mode("handed_over", c->handed_over, to);
	if (m->translation)
		print_translation(c, m->nodes, to);
	fputs("\"write_backs\": ", to);
	print_list(to, c->write_backs, m->nodes);
	fprintf(to, ", \"memory_cycles\": {\"uncontended\": %.0f, \"contended\": %.0f", t->uncontended, t->contended);
	if (m->translation)
		fprintf(to, ", \"walks\": %.0f", region_walk_cycles(region, cpu));
	fprintf(to, "}, \"cycles\": %.0f}", t->instructions + t->contended);
}

static double walks(const struct counts *c)
{
	double sum = 0;

	for (enum mode mode = 0; mode < MODES; mode++)
		sum += c->walks[mode];
	return sum;
}

/* What was seen but is in no count. */
static void print_lost(const struct region *region, unsigned int id, FILE *to)
{
	for (unsigned int i = 0; i < region->sim->machine->cpus; i++) {
		const struct sim_cpu *cpu = region->sim->cpu[i];

		if (cpu && cpu->counts.nowhere)
			fprintf(to, "{\"error\": \"region %u: CPU %u: %" PRIu64 " accesses to memory of no node, the last at %#"
				PRIx64 "\"}\n", id, i, cpu->counts.nowhere, cpu->counts.nowhere_address);
		if (cpu && cpu->counts.walks_lost > walks(&cpu->counts) * LOST_MOST)
			fprintf(to, "{\"error\": \"region %u: CPU %u: %" PRIu64 " walks of page tables that lead nowhere\"}\n",
				id, i, cpu->counts.walks_lost);
		if (cpu && cpu->counts.unresolved)
			fprintf(to, "{\"error\": \"region %u: CPU %u: %" PRIu64 " accesses without a machine address\"}\n",
				id, i, cpu->counts.unresolved);
	}
}

static double mean_use(const struct region *region, const struct use *use)
{
	return region->totals.duration > 0 ? use->time / region->totals.duration : 0;
}

void report(const struct region *region, unsigned int id, FILE *to)
{
	const struct machine *m = region->sim->machine;
	const struct totals *totals = &region->totals;
	double accesses[MAX_NODES] = { 0 }, write_backs[MAX_NODES] = { 0 }, local = 0, all = 0;
	unsigned int busiest = 0;
	double longest = -1;
	const char *comma = "";

	fprintf(to, "{\"region\": %u, \"machine\": ", id);
	machine_print(m, to);
	fprintf(to, ", \"epochs\": %u, \"seconds_modelled\": %.9g, \"cpus\": [", totals->epochs, totals->duration / m->cpu_hz);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++) {
		const struct counts *c;

		if (!region->sim->cpu[cpu])
			continue;
		fputs(comma, to);
		comma = ", ";
		print_cpu(region, cpu, to);
		c = &region->sim->cpu[cpu]->counts;
		for (unsigned int node = 0; node < m->nodes; node++) {
			for (enum mode mode = 0; mode < MODES; mode++) {
				accesses[node] += c->misses[mode][node];
				if ((int)node == m->node_of_cpu[cpu])
					local += c->misses[mode][node];
			}
			write_backs[node] += c->write_backs[node];
		}
		if (totals->cpu[cpu].instructions + totals->cpu[cpu].contended > longest) {
			longest = totals->cpu[cpu].instructions + totals->cpu[cpu].contended;
			busiest = cpu;
		}
	}
	fputs("], \"nodes\": [", to);
	for (unsigned int node = 0; node < m->nodes; node++) {
		all += accesses[node];
		fprintf(to, "%s{\"node\": %u, \"accesses\": %.0f, \"write_backs\": %.0f, \"use_mean\": %.6g, \"use_max\": %.6g}",
			node ? ", " : "", node, accesses[node], write_backs[node],
			mean_use(region, &totals->node[node]), totals->node[node].max);
	}
	fputs("], \"links\": [", to);
	for (unsigned int i = 0; i < m->links; i++)
		fprintf(to, "%s{\"from\": %d, \"to\": %d, \"bytes\": %.0f, \"use_mean\": %.6g, \"use_max\": %.6g}",
			i ? ", " : "", m->link[i].from, m->link[i].to, totals->link[i].bytes,
			mean_use(region, &totals->link[i]), totals->link[i].max);
	/* without a miss there is no ratio */
	if (all > 0)
		fprintf(to, "], \"local_ratio\": %.6g", local / all);
	else
		fputs("], \"local_ratio\": null", to);
	fprintf(to, ", \"imbalance\": %.6g, \"interconnect_load\": %.6g", relative_deviation(accesses, m->nodes),
		totals->duration > 0 ? totals->busiest_link / totals->duration : 0);
	fprintf(to, ", \"busiest_cpu\": %u, \"memory_cycles\": %.0f, \"cycles\": %.0f}\n",
		busiest, totals->cpu[busiest].contended, longest);
	print_lost(region, id, to);
	fflush(to);
}
