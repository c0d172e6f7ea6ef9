/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes are a trace, or a line that says why not. What is read is decided on, and written again it is the same. */
#include <stdlib.h>
#include <string.h>

#include "decide/auto.h"
#include "decide/explain.h"
#include "fuzz.h"
#include "trace/trace.h"

#define DOMAINS 16	/* that are decided for: each has a table */

const char *const fuzz_words[] = {
	"carrefour-trace 1\n", "nodes 4\n", "nodes 64\n", "period 1000000000 - 1 1 1 1\n", "domain 5 0,1 first-touch static 0 0\n",
	"turn 3\n", "domain 5 0,1,2,3 round-4k carrefour 9 7\n", "table 1024\n", "ran 1000 4\n", "vcpu 3 1\n", "count 0 1 300\n",
	"s 10 0 0 1 0 r\n", "s 200 9 3 2 0 W\n", "s 40000 18 1 3 0 R\n", "decided\n", "d migrate one-node 10 0 0 1\n",
	"set pages 1024\n", "set period_ms 100\n", "set min_samples 1\n", "end\n", "\n", "#", NULL
};

static struct domain *domains[DOMAINS];
static struct auto_state classes[DOMAINS];

static void decide_for(const struct trace *t, struct trace_domain *d, struct host *host)
{
	unsigned int i = d->id % DOMAINS;
	struct outcome out;
	struct auto_input in;
	struct advice advice;
	char text[EXPLAIN_SIZE];
	size_t n;

	if (!domains[i])
		domains[i] = domain_new(1024, t->nr_nodes, i);
	if (d->pages)
		HOLDS(domain_resize(domains[i], d->pages < 4096 ? d->pages : 4096));
	out = decide(domains[i], &t->config, host, &d->in);
	HOLDS(out.nr <= DECISIONS_MAX);
	for (n = 0; n < out.nr; n++) {
		HOLDS(out.decision[n].to < t->nr_nodes && out.decision[n].from < t->nr_nodes);
		HOLDS(out.decision[n].load_from <= 1000 && out.decision[n].load_to <= 1000);
		explain_decision(text, &out.decision[n]);
		HOLDS(!strchr(text, '\n'));
	}
	explain_verdict(text, &out.verdict, &t->config);
	in = auto_input_of(&d->in, &out.verdict, d->policy, d->carrefour);
	advice = auto_step(&classes[i], &t->config, &in);
	auto_explain(text, sizeof(text), &advice);
}

/* To *text, malloc()ed; false: it is none. */
static bool read_all(const uint8_t *data, size_t size, char **text, size_t *length, bool decides)
{
	FILE *file = fuzz_file(data, size), *to = open_memstream(text, length);
	struct trace t;
	struct trace_period p;
	struct host host = { 0 };
	int found = -1;
	unsigned int i;

	if (trace_open(&t, file, "name")) {
		trace_write_begin(to, &t.config, &(struct host){ .nr_nodes = t.nr_nodes, .topology = &t.topology });
		host.nr_nodes = t.nr_nodes;
		while ((found = trace_read(&t, &p)) > 0) {
			host_next_period(&host, &t.config, p.free, p.accesses_per_us);
			for (i = 0; decides && i < p.nr; i++)
				decide_for(&t, &p.domain[i], &host);
			trace_write_period(to, t.nr_nodes, &p);
			trace_free(&p);
		}
		trace_write_end(to);
	}
	if (found < 0)
		HOLDS(!strncmp(t.error, "name:", 5) && !strchr(t.error, '\n'));
	trace_close(&t);
	fclose(file);
	fclose(to);
	return !found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *once = NULL, *twice = NULL;
	size_t length, length_twice;
	unsigned int i;

	for (i = 0; i < DOMAINS; i++)
		classes[i] = auto_begin();
	if (read_all(data, size, &once, &length, true)) {
		HOLDS(read_all((uint8_t *)once, length, &twice, &length_twice, false));
		HOLDS(length == length_twice && !memcmp(once, twice, length));
	}
	for (i = 0; i < DOMAINS; i++) {
		if (domains[i])
			domain_free(domains[i]);
		domains[i] = NULL;
	}
	free(once);
	free(twice);
	return 0;
}
