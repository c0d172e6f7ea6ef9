/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carrefour-replay: what carrefourd decides, or would decide, for recorded samples.
 * A line a decision; with --advise, what `auto` would choose instead.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decide/auto.h"
#include "decide/explain.h"
#include "guests/metrics.h"
#include "trace/trace.h"

#define EXIT_USAGE 2
#define DOMAINS_MAX 4096	/* in a whole trace */

static const char program[] = "carrefour-replay";

struct replay_options {
	const char *config, *output, *metrics;
	long domain;		/* -1: all */
	bool advise, check, periods;
};

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

__attribute__((noreturn, format(printf, 2, 3)))
static void die(int status, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, status == EXIT_USAGE ? "; see '%s --help'\n" : "\n", program);
	exit(status);
}

static void help(void)
{
	printf("Usage: %s [OPTION]... TRACE\n\n"
	       "What carrefourd decides for recorded samples: a line a decision. TRACE is a file,\n"
	       "or - for standard input.\n\n"
	       "Options:\n"
	       "  -a, --advise          print what 'auto' would choose, instead of decisions\n"
	       "  -c, --config FILE     decide by this configuration, not by that of the trace\n"
	       "  -d, --domain ID       print this domain only; all share the host's budget\n"
	       "  -k, --check           compare with the decisions that were recorded, print what\n"
	       "                        differs; status 1 if anything does\n"
	       "  -m, --metrics FILE    write metrics of the whole trace, as for Prometheus\n"
	       "  -o, --output FILE     write the trace with these decisions to FILE\n"
	       "  -p, --periods         print a line for each period of a domain, too\n"
	       "  -h, --help            show this help\n\n"
	       "Examples:\n"
	       "  %s --periods db1.trace\n"
	       "  %s --advise db1.trace\n"
	       "  %s --config new.conf --check db1.trace\n\n"
	       "The manual is carrefour-replay(1), which has the format of traces.\n",
	       program, program, program, program);
}

static long parse_domain(const char *text)
{
	unsigned long id = strtoul(text, NULL, 10);

	if (!*text || text[strspn(text, "0123456789")] || id > UINT16_MAX)
		die(EXIT_USAGE, "'%s' is no domain id; give a number from 0 to %d", text, UINT16_MAX);
	return id;
}

static struct replay_options parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "advise", no_argument, NULL, 'a' },
		{ "config", required_argument, NULL, 'c' },
		{ "domain", required_argument, NULL, 'd' },
		{ "check", no_argument, NULL, 'k' },
		{ "metrics", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "periods", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct replay_options o = { .domain = -1 };
	int c;

	/* The colon: getopt says nothing, and tells a missing value apart. */
	while ((c = getopt_long(argc, argv, ":ac:d:km:o:ph", known, NULL)) != -1)
		switch (c) {
		case 'a':
			o.advise = true;
			break;
		case 'c':
			o.config = optarg;
			break;
		case 'd':
			o.domain = parse_domain(optarg);
			break;
		case 'k':
			o.check = true;
			break;
		case 'm':
			o.metrics = optarg;
			break;
		case 'o':
			o.output = optarg;
			break;
		case 'p':
			o.periods = true;
			break;
		case 'h':
			help();
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case ':':
			die(EXIT_USAGE, "option '%s' needs a value", argv[optind - 1]);
		default:
			die(EXIT_USAGE, "unknown option '%s'", argv[optind - 1]);
		}
	if (optind != argc - 1)
		die(EXIT_USAGE, optind == argc ? "which trace?" : "one trace at a time");
	if (o.advise && o.check)
		die(EXIT_USAGE, "--advise and --check exclude each other");
	return o;
}

static struct replayed *find_guest(struct replay *r, unsigned int id)
{
	struct replayed *g;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->guest[i].id == id)
			return &r->guest[i];
	if (r->nr == DOMAINS_MAX)
		die(EXIT_FAILURE, "more than %d domains", DOMAINS_MAX);
	g = &r->guest[r->nr++];
	memset(g, 0, sizeof(*g));
	g->id = id;
	snprintf(g->name, sizeof(g->name), "%u", id);
	g->domain = domain_new(&r->config, r->trace.nr_nodes, id);
	if (!g->domain)
		die(EXIT_FAILURE, "out of memory");
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
	auto_explain(text, sizeof(text), &g->advice, &r->config);
	printf("period %" PRIu64 " domain %u: %s\n", r->period, g->id, text);
}

/* The decisions replace those that were recorded, for --output. */
static void keep(struct trace_domain *d, const struct outcome *out)
{
	struct decision *copy = malloc((out->nr + 1) * sizeof(*copy));

	if (!copy)
		die(EXIT_FAILURE, "out of memory");
	memcpy(copy, out->decision, out->nr * sizeof(*copy));
	free(d->decision);
	d->decision = copy;
	d->nr_decisions = out->nr;
	d->decided = true;
}

static void replay_period(struct replay *r, struct trace_period *p)
{
	unsigned int i;

	host_next_period(&r->host, &r->config, p->free, p->accesses_per_us);
	for (i = 0; i < p->nr; i++) {
		struct trace_domain *d = &p->domain[host_turn(r->period, i, p->nr)];
		struct replayed *g = find_guest(r, d->id);
		struct outcome out;

		/* Beside those that were decided for, it took nothing from their budget. */
		if (r->options->check && !d->decided)
			continue;
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
		auto_explain(text, sizeof(text), &r->guest[i].advice, &r->config);
		printf("at the end, domain %u: %s\n", r->guest[i].id, text);
	}
}

static void write_metrics(const struct replay *r)
{
	struct domain_metrics *all = calloc(r->nr + 1, sizeof(*all));
	unsigned int i;
	bool good;

	if (!all)
		die(EXIT_FAILURE, "out of memory");
	for (i = 0; i < r->nr; i++) {
		all[i] = r->guest[i].metrics;
		all[i].id = r->guest[i].id;
		all[i].name = r->guest[i].name;
	}
	good = metrics_write(r->options->metrics, all, r->nr);
	free(all);
	if (!good)
		die(EXIT_FAILURE, "%s: cannot write it: %s", r->options->metrics, strerror(errno));
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
		die(EXIT_FAILURE, "%s", r->trace.error);
	if (r->options->advise)
		print_advice(r);
	if (r->options->metrics)
		write_metrics(r);
	if (r->output) {
		trace_write_end(r->output);
		if (fflush(r->output) || ferror(r->output) || fclose(r->output))
			die(EXIT_FAILURE, "%s: cannot write it: %s", r->options->output, strerror(errno));
	}
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_FAILURE, "cannot write the output: %s", strerror(errno));
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
		die(EXIT_FAILURE, "%s: cannot open it: %s", name, strerror(errno));
	if (!trace_open(&r.trace, file, file == stdin ? "standard input" : name))
		die(EXIT_FAILURE, "%s", r.trace.error);
	r.config = r.trace.config;
	if (options.config && !config_load(&r.config, options.config, error, sizeof(error)))
		die(EXIT_FAILURE, "%s", error);
	r.guest = calloc(DOMAINS_MAX, sizeof(*r.guest));
	if (!r.guest)
		die(EXIT_FAILURE, "out of memory");
	r.host.nr_nodes = r.trace.nr_nodes;
	if (options.output) {
		if (is_file(options.output, file))
			die(EXIT_FAILURE, "%s: is the trace itself; write to another file", options.output);
		r.output = fopen(options.output, "we");
		if (!r.output)
			die(EXIT_FAILURE, "%s: cannot open it: %s", options.output, strerror(errno));
		trace_write_begin(r.output, &r.config, r.trace.nr_nodes);
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
