/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carrefour-replay: what carrefourd decides, or would decide, for recorded samples.
 * A line a decision; with --advise, what `auto` would choose instead.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decide/auto.h"
#include "decide/explain.h"
#include "metrics/metrics.h"
#include "replay/options.h"
#include "trace/trace.h"

#define DOMAINS_MAX 4096	/* in a whole trace */

struct replayed {
	unsigned int id;
	char name[16];
	struct domain *domain;
	struct auto_state class;
	struct advice advice;
	struct domain_metrics metrics;
};

struct replay {
	const struct replay_options *options;
	struct config config;
	struct trace trace;
	struct host host;
	struct replayed *guest;
	unsigned int nr;
	uint64_t period;
	FILE *output;
	unsigned int different;
};

static struct replayed *find_guest(struct replay *r, unsigned int id)
{
	struct replayed *g;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->guest[i].id == id)
			return &r->guest[i];
	if (r->nr == DOMAINS_MAX)
		die("more than %d domains", DOMAINS_MAX);
	g = &r->guest[r->nr++];
	memset(g, 0, sizeof(*g));
	g->id = id;
	snprintf(g->name, sizeof(g->name), "%u", id);
	g->domain = domain_new(r->config.pages, r->trace.nr_nodes, id);
	if (!g->domain)
		die("out of memory");
	g->class = auto_begin();
	return g;
}

static bool is_shown(const struct replay *r, const struct replayed *g)
{
	return r->options->domain < 0 || r->options->domain == (long)g->id;
}

static bool same(const struct decision *a, const struct decision *b)
{
	return a->action == b->action && a->why == b->why && a->gfn == b->gfn && a->order == b->order &&
	       a->from == b->from && a->to == b->to;
}

static void print_decision(const struct replay *r, const struct replayed *g, const char *mark, const struct decision *d)
{
	char text[EXPLAIN_SIZE];

	explain_decision(text, d);
	printf("%speriod %" PRIu64 " domain %u: %s\n", mark, r->period, g->id, text);
}

static void check(struct replay *r, const struct replayed *g, const struct trace_domain *d, const struct outcome *out)
{
	size_t i, nr = d->nr_decisions > out->nr ? d->nr_decisions : out->nr;

	for (i = 0; i < nr; i++) {
		if (i < d->nr_decisions && i < out->nr && same(&d->decision[i], &out->decision[i]))
			continue;
		r->different++;
		/* The numbers of a recorded decision were not recorded. */
		if (i < d->nr_decisions)
			printf("- period %" PRIu64 " domain %u: %s gfn 0x%" PRIx64 " order %u from node %u to %u: %s\n",
			       r->period, g->id, action_name(d->decision[i].action), d->decision[i].gfn,
			       d->decision[i].order, d->decision[i].from, d->decision[i].to, why_name(d->decision[i].why));
		if (i < out->nr)
			print_decision(r, g, "+ ", &out->decision[i]);
	}
}

static void print_all(const struct replay *r, const struct replayed *g, const struct outcome *out)
{
	char text[EXPLAIN_SIZE];
	size_t i;

	for (i = 0; i < out->nr; i++)
		print_decision(r, g, "", &out->decision[i]);
	if (r->options->periods) {
		explain_verdict(text, &out->verdict, &r->config);
		printf("period %" PRIu64 " domain %u: %s\n", r->period, g->id, text);
	}
}

static void advise(const struct replay *r, struct replayed *g, const struct trace_domain *d, const struct verdict *v)
{
	struct auto_input in = auto_input_of(&d->in, v, d->policy, d->carrefour);
	char text[EXPLAIN_SIZE];

	g->advice = auto_step(&g->class, &r->config, &in);
	if (!r->options->advise || !is_shown(r, g) || (g->advice.why != AUTO_CHANGED && !r->options->periods))
		return;
	auto_explain(text, sizeof(text), &g->advice);
	printf("period %" PRIu64 " domain %u: %s\n", r->period, g->id, text);
}

/* The decisions replace those that were recorded, for --output. */
static void keep(struct trace_domain *d, const struct outcome *out)
{
	struct decision *copy = malloc((out->nr + 1) * sizeof(*copy));

	if (!copy)
		die("out of memory");
	if (out->nr)
		memcpy(copy, out->decision, out->nr * sizeof(*copy));
	free(d->decision);
	d->decision = copy;
	d->nr_decisions = out->nr;
	d->decided = true;
}

static void replay_period(struct replay *r, struct trace_period *p)
{
	uint64_t turn = p->has_turn ? p->turn : r->period;
	unsigned int i;

	host_next_period(&r->host, &r->config, p->free, p->accesses_per_us);
	for (i = 0; i < p->nr; i++) {
		struct trace_domain *d = &p->domain[host_turn(turn, i, p->nr)];
		struct replayed *g = find_guest(r, d->id);
		struct outcome out;

		/* Beside those that were decided for, it took nothing from their budget. */
		if (r->options->check && !d->decided)
			continue;
		if (!domain_resize(g->domain, d->pages ? d->pages : r->config.pages))
			die("out of memory");
		out = decide(g->domain, &r->config, &r->host, &d->in);
		metrics_count(&g->metrics, &out.verdict);
		advise(r, g, d, &out.verdict);
		if (r->options->check && is_shown(r, g))
			check(r, g, d, &out);
		else if (!r->options->advise && is_shown(r, g))
			print_all(r, g, &out);
		if (r->output)
			keep(d, &out);
	}
	if (r->output)
		trace_write_period(r->output, r->trace.nr_nodes, p);
}

static void print_advice(const struct replay *r)
{
	char text[EXPLAIN_SIZE];
	unsigned int i;

	for (i = 0; i < r->nr; i++) {
		if (!is_shown(r, &r->guest[i]))
			continue;
		auto_explain(text, sizeof(text), &r->guest[i].advice);
		printf("at the end, domain %u: %s\n", r->guest[i].id, text);
	}
}

static void write_metrics(struct replay *r)
{
	struct metrics_domain *all = calloc(r->nr + 1, sizeof(*all));
	unsigned int i;
	bool good;

	if (!all)
		die("out of memory");
	for (i = 0; i < r->nr; i++) {
		r->guest[i].metrics.known = true;
		all[i].carrefour = &r->guest[i].metrics;
		metrics_label(&all[i], "", r->guest[i].name);
	}
	if (!strcmp(r->options->metrics, "-"))
		metrics_print(stdout, all, r->nr, NULL);
	good = !strcmp(r->options->metrics, "-") || metrics_write(r->options->metrics, all, r->nr, NULL);
	free(all);
	if (!good && errno == EEXIST)
		die("%s: is there, and is no regular file", r->options->metrics);
	if (!good)
		die("%s: cannot write it: %s", r->options->metrics, strerror(errno));
}

static void run(struct replay *r)
{
	struct trace_period p;
	int found;

	while ((found = trace_read(&r->trace, &p)) > 0) {
		replay_period(r, &p);
		trace_free(&p);
		r->period++;
	}
	if (found < 0)
		die("%s", r->trace.error);
	if (r->options->advise)
		print_advice(r);
	if (r->options->metrics)
		write_metrics(r);
	if (r->output) {
		trace_write_end(r->output);
		if (fflush(r->output) || ferror(r->output) || fclose(r->output))
			die("%s: cannot write it: %s", r->options->output, strerror(errno));
	}
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output: %s", strerror(errno));
}

/* It would be emptied before it is read. */
static bool is_file(const char *path, FILE *file)
{
	struct stat a, b;

	return !stat(path, &a) && !fstat(fileno(file), &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int main(int argc, char **argv)
{
	struct replay_options options = parse_options(argc, argv);
	const char *name = argv[optind];
	struct replay r = { .options = &options };
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	char error[1024];
	unsigned int i;

	if (!file)
		die("%s: cannot open it: %s", name, strerror(errno));
	if (!trace_open(&r.trace, file, file == stdin ? "standard input" : name))
		die("%s", r.trace.error);
	r.config = r.trace.config;
	if (options.config && !config_load(&r.config, options.config, error, sizeof(error)))
		die("%s", error);
	r.guest = calloc(DOMAINS_MAX, sizeof(*r.guest));
	if (!r.guest)
		die("out of memory");
	r.host.nr_nodes = r.trace.nr_nodes;
	r.host.topology = &r.trace.topology;
	if (options.metrics && is_file(options.metrics, file))
		die("%s: is the trace itself; write to another file", options.metrics);
	if (options.output) {
		if (is_file(options.output, file))
			die("%s: is the trace itself; write to another file", options.output);
		r.output = fopen(options.output, "we");
		if (!r.output)
			die("%s: cannot open it: %s", options.output, strerror(errno));
		if (options.metrics && is_file(options.metrics, r.output))
			die("%s: is for --output, too; write metrics to another file", options.metrics);
		trace_write_begin(r.output, &r.config, &r.host);
	}
	run(&r);

	for (i = 0; i < r.nr; i++)
		domain_free(r.guest[i].domain);
	free(r.guest);
	trace_close(&r.trace);
	if (file != stdin)
		fclose(file);
	return r.different ? EXIT_FAILURE : EXIT_SUCCESS;
}
