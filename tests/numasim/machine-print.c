/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine as JSON, so that a result says what it was made with. */
#include <inttypes.h>

#include "machine.h"

static void print_cache(const char *name, const struct geometry *g, FILE *to)
{
	fprintf(to, ", \"%s\": {\"bytes\": %" PRIu64 ", \"ways\": %u}", name, g->bytes, g->ways);
}

static void print_classes(const char *name, const double *cycles, FILE *to)
{
	fprintf(to, ", \"%s\": [%g, %g, %g]", name, cycles[0], cycles[1], cycles[2]);
}

static void print_node(const struct machine *m, unsigned int node, FILE *to)
{
	const char *comma = "";

	fputs("{\"cpus\": [", to);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		if (m->node_of_cpu[cpu] == (int)node) {
			fprintf(to, "%s%u", comma, cpu);
			comma = ", ";
		}
	fputs("], \"ranges\": [", to);
	for (unsigned int i = 0; i < m->node[node].ranges; i++)
		fprintf(to, "%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", m->node[node].range[i].from, m->node[node].range[i].to);
	fputs("]}", to);
}

void machine_print(const struct machine *m, FILE *to)
{
	const char *comma = "";

	fprintf(to, "{\"name\": \"%s\", \"nodes\": [", m->name);
	for (unsigned int node = 0; node < m->nodes; node++) {
		fputs(node ? ", " : "", to);
		print_node(m, node, to);
	}
	fputs("], \"watch\": [", to);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		if (m->watched[cpu]) {
			fprintf(to, "%s%u", comma, cpu);
			comma = ", ";
		}
	fputs("], \"links\": [", to);
	for (unsigned int i = 0; i < m->links; i++)
		fprintf(to, "%s{\"from\": %d, \"to\": %d, \"gib_s\": %g}", i ? ", " : "", m->link[i].from, m->link[i].to, m->link[i].bandwidth);
	fputs("], \"routes\": [", to);
	comma = "";
	for (unsigned int a = 0; a < m->nodes; a++)
		for (unsigned int b = 0; b < m->nodes; b++)
			if (m->route[a][b].hops == 2) {
				fprintf(to, "%s[%u, %d, %u]", comma, a, m->link[m->route[a][b].link[0]].to, b);
				comma = ", ";
			}
	fputs("]", to);
	print_cache("l1", &m->l1, to);
	print_cache("l2", &m->l2, to);
	print_cache("l3", &m->l3, to);
	fprintf(to, ", \"hit\": [%g, %g]", m->hit[0], m->hit[1]);
	print_classes("latency", m->alone, to);
	print_classes("loaded", m->loaded, to);
	fprintf(to, ", \"loaded_threads\": %g, \"controller\": %g, \"cpu_hz\": %.10g, \"stands_for\": %g, \"epoch\": %.15g",
		m->loaded_threads, m->controller, m->cpu_hz, m->stands_for, m->epoch);
	fprintf(to, ", \"tlb\": \"%s\", \"coherent\": %s}", m->translation ? m->translation->name : "none",
		m->coherent ? "true" : "false");
}
