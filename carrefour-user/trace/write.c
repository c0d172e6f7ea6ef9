/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes traces, as trace-read.c takes them. */
#include <inttypes.h>

#include "decide/explain.h"
#include "trace/trace.h"

static void print_setting(void *to, const char *key, const char *value)
{
	fprintf(to, "set %s %s\n", key, value);
}

static void write_nodes(FILE *f, unsigned int nr_nodes, uint64_t nodes)
{
	const char *comma = "";
	unsigned int n;

	for (n = 0; n < nr_nodes; n++)
		if (nodes >> n & 1) {
			fprintf(f, "%s%u", comma, n);
			comma = ",";
		}
}

static void write_topology(FILE *f, unsigned int nr_nodes, const struct topology *t)
{
	unsigned int a, b;

	fprintf(f, "cpus ");
	write_nodes(f, nr_nodes, t->cpus);
	fputc('\n', f);
	for (a = 0; a < nr_nodes; a++) {
		fprintf(f, "distance %u", a);
		for (b = 0; b < nr_nodes; b++)
			fprintf(f, " %u", t->distance[a][b]);
		fputc('\n', f);
	}
}

void trace_write_begin(FILE *f, const struct config *config, const struct host *host)
{
	fprintf(f, "carrefour-trace 1\nnodes %u\n", host->nr_nodes);
	if (host->topology && !topology_is_flat(host->topology, host->nr_nodes))
		write_topology(f, host->nr_nodes, host->topology);
	config_changed(config, print_setting, f);
}

static char access_letter(uint8_t flags)
{
	return "rwRW"[(flags & SAMPLE_WRITE ? 1 : 0) + (flags & SAMPLE_IBS ? 2 : 0)];
}

static void write_decisions(FILE *f, const struct trace_domain *d)
{
	size_t i;

	fprintf(f, "decided\n");
	for (i = 0; i < d->nr_decisions; i++) {
		const struct decision *x = &d->decision[i];

		fprintf(f, "d %s %s %" PRIx64 " %u %u %u\n", action_name(x->action), why_name(x->why), x->gfn, x->order,
			x->from, x->to);
	}
}

void trace_write_domain(FILE *f, unsigned int nr_nodes, const struct trace_domain *d)
{
	const struct input *in = &d->in;
	unsigned int n, h;
	size_t i;

	fprintf(f, "domain %u ", d->id);
	write_nodes(f, nr_nodes, in->home);
	fprintf(f, " %s %s %" PRIu64 " %" PRIu64 "\n", d->policy, d->carrefour ? "carrefour" : "static", in->marked,
		in->faults);
	if (d->pages)
		fprintf(f, "table %" PRIu32 "\n", d->pages);
	if (in->ran_ns)
		fprintf(f, "ran %" PRIu64 " %u\n", in->ran_ns, in->nr_vcpus);
	for (n = 0; n < in->nr_vcpus; n++)
		if (in->vcpu_node[n] != NO_NODE)
			fprintf(f, "vcpu %u %u\n", n, in->vcpu_node[n]);
	for (n = 0; n < nr_nodes; n++)
		for (h = 0; h < nr_nodes; h++)
			if (in->matrix[n * nr_nodes + h])
				fprintf(f, "count %u %u %" PRIu64 "\n", n, h, in->matrix[n * nr_nodes + h]);
	for (i = 0; i < in->nr_samples; i++) {
		const struct sample *s = &in->sample[i];

		fprintf(f, "s %" PRIx64 " %u %u %u %u %c\n", s->gfn, s->order, s->vcpu, s->node, s->home,
			access_letter(s->flags));
	}
	if (d->decided)
		write_decisions(f, d);
}

void trace_write_head(FILE *f, unsigned int nr_nodes, const struct trace_period *p)
{
	unsigned int i;

	fprintf(f, "period %" PRIu64, p->ns);
	if (p->accesses_per_us < 0)
		fprintf(f, " -");
	else
		fprintf(f, " %" PRId64, p->accesses_per_us);
	for (i = 0; i < nr_nodes; i++)
		fprintf(f, " %" PRIu64, p->free[i]);
	fputc('\n', f);
	if (p->has_turn)
		fprintf(f, "turn %" PRIu64 "\n", p->turn);
}

void trace_write_period(FILE *f, unsigned int nr_nodes, const struct trace_period *p)
{
	unsigned int i;

	trace_write_head(f, nr_nodes, p);
	for (i = 0; i < p->nr; i++)
		trace_write_domain(f, nr_nodes, &p->domain[i]);
}

void trace_write_end(FILE *f)
{
	fprintf(f, "end\n");
}
