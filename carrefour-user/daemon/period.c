/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A period: what Xen has seen of each guest, what is decided by it, and that it is done and told. A domain may
 * vanish between any two steps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/record.h"
#include "daemon/apply.h"
#include "daemon/period.h"
#include "daemon/sampling.h"
#include "decide/explain.h"
#include "process/clock.h"
#include "process/log.h"
#include "store/store.h"

static void follow_store(struct daemon *d)
{
	struct switches *switches;
	unsigned int nr;

	if (!store_check() || !store_switches(&switches, &nr))
		return;
	if (!guests_sync(d, switches, nr))
		log_line(LEVEL_ERROR, "out of memory; some domains are left out");
	free(switches);
}

/* Home nodes of nothing: the policy has none, and any node will do. */
static uint64_t home_of(const struct xen_policy *p, unsigned int nr_nodes)
{
	return p->home ? p->home : nr_nodes < NODES_MAX ? (1ULL << nr_nodes) - 1 : ~0ULL;
}

static bool ask_of_domain(struct guest *g)
{
	int error = xen_policy_get(g->switches.id, &g->policy);

	if (!error)
		error = xen_vcpu_nodes(g->switches.id, &g->vcpu_node, &g->nr_vcpus);
	/* If it is gone, the next START or GET says so. */
	if (error && error != ESRCH)
		guest_log(g, LEVEL_WARNING, "policy and affinity: %s", strerror(error));
	return !error;
}

/* Xen adds it up when it samples, which may be in the period after it. */
static uint64_t ran_ns(const struct daemon *d, const struct guest *g)
{
	uint64_t most = d->ns * g->nr_vcpus;

	return g->period.guest_ns < most ? g->period.guest_ns : most;
}

static void look(struct daemon *d, struct guest *g)
{
	const struct counters *c = &g->period;

	sampling_keep(g, &d->config, d->now);
	if (!g->looked || !ask_of_domain(g)) {
		g->looked = false;
		/* What was seen last says nothing of now. */
		g->metrics.last = (struct verdict){ .state = STATE_OFF };
		g->period = (struct counters){ 0 };
		return;
	}
	counters_between(&g->period, &g->seen, &g->counters);
	g->seen = g->counters;
	g->in = (struct input){
		.ns = d->ns, .sample = g->sample, .nr_samples = g->nr_samples, .matrix = c->matrix,
		.marked = c->marked, .faults = c->faults, .ran_ns = ran_ns(d, g), .home = home_of(&g->policy, d->host.nr_nodes),
		.vcpu_node = g->vcpu_node, .nr_vcpus = g->nr_vcpus,
	};
	g->metrics.dropped += c->dropped;
	g->metrics.lost += g->faults.lost + g->faults.bad;
	g->metrics.sampling_ns += c->ns;
	g->metrics.guest_ns += c->guest_ns;
	if (g->faults.lost || g->faults.bad)
		guest_log(g, LEVEL_WARNING, "%llu samples were lost, %llu make no sense",
			  (unsigned long long)g->faults.lost, (unsigned long long)g->faults.bad);
	g->faults = (struct ring_faults){ 0 };
}

/* Without Carrefour, and while it waits, nothing is decided: it would take from what others may move. */
static void decide_for(struct daemon *d, struct guest *g)
{
	struct outcome out = { .nr = 0 };

	if (g->switches.carrefour && !g->follow.on && !g->domain) {
		g->domain = domain_new(&d->config, d->host.nr_nodes, g->switches.id);
		if (!g->domain)
			guest_log(g, LEVEL_ERROR, "out of memory");
	}
	if (g->domain) {
		out = decide(g->domain, &d->config, &d->host, &g->in);
	} else {
		out.verdict.state = g->follow.on ? STATE_FOLLOWING : STATE_OFF;
		out.verdict.measure = measure(g->in.matrix, d->host.nr_nodes, g->in.home);
		out.verdict.accesses_per_us = d->host.accesses_per_us;
	}
	g->out = out;
}

static void tell_period(const struct daemon *d, const struct guest *g, enum state before)
{
	const struct verdict *v = &g->out.verdict;
	char text[EXPLAIN_SIZE];

	explain_verdict(text, v, &d->config);
	guest_log(g, v->moves || v->state != before ? LEVEL_INFO : LEVEL_DEBUG, "%s", text);
}

static void tell_decision(const struct guest *g, const struct decision *x, enum result result)
{
	char text[EXPLAIN_SIZE];

	explain_decision(text, x);
	if (x->action == ACTION_FREEZE)
		guest_log(g, LEVEL_INFO, "%s", text);
	else
		guest_log(g, LEVEL_INFO, "%s; %s", text, result_name(result));
}

static void carry_out(struct daemon *d, struct guest *g)
{
	const struct outcome *out = &g->out;
	enum result result[DECISIONS_MAX];
	int error;
	size_t i;

	if (!out->nr)
		return;
	error = xen_move(g->switches.id, out->decision, out->nr, result);
	if (error && error != ESRCH)
		guest_log(g, LEVEL_WARNING, "moving its pages: %s", strerror(error));
	for (i = 0; i < out->nr; i++) {
		const struct decision *x = &out->decision[i];

		history_add(&g->history, &(struct event){ *x, d->period, d->now, result[i] });
		if (x->action != ACTION_FREEZE)
			g->metrics.results[result[i]]++;
		if (i < d->config.log_decisions)
			tell_decision(g, x, result[i]);
	}
	if (i > d->config.log_decisions)
		guest_log(g, LEVEL_INFO, "%zu decisions more in this period", i - d->config.log_decisions);
}

static void record(const struct daemon *d, const uint64_t *free_bytes)
{
	struct trace_domain *domain = calloc(d->nr + 1, sizeof(*domain));
	struct trace_period p = { .ns = d->ns, .accesses_per_us = d->host.accesses_per_us, .domain = domain };
	unsigned int i;

	if (!domain) {
		log_line(LEVEL_ERROR, "out of memory; recordings miss a period");
		return;
	}
	memcpy(p.free, free_bytes, sizeof(p.free));
	/* In the order of ids, which is that of replaying, too. */
	for (i = 0; i < d->nr; i++) {
		struct guest *g = d->guest[i];

		if (!g->looked)
			continue;
		domain[p.nr] = (struct trace_domain){
			.id = g->switches.id, .carrefour = g->domain != NULL, .in = g->in, .decided = g->domain != NULL,
			.decision = (struct decision *)g->out.decision, .nr_decisions = g->out.nr,
		};
		snprintf(domain[p.nr++].policy, TRACE_POLICY_MAX, "%s", g->policy.name);
	}
	record_period(&p, d->host.nr_nodes);
	free(domain);
}

static void write_metrics(struct daemon *d)
{
	struct domain_metrics *all = calloc(d->nr + 1, sizeof(*all));
	unsigned int i;
	int error = 0;

	for (i = 0; all && i < d->nr; i++)
		all[i] = d->guest[i]->metrics;
	if (!all || !metrics_write(d->config.metrics, all, d->nr))
		error = errno;
	free(all);
	if (error && error != d->metrics_error)
		log_line(LEVEL_WARNING, "%s: cannot write it: %s; tried again each period", d->config.metrics, strerror(error));
	d->metrics_error = error;
}

static void end_of_period(struct daemon *d, struct guest *g)
{
	enum state before = g->metrics.last.state;

	carry_out(d, g);
	if (g->out.verdict.state == STATE_FOLLOWING)
		choice_follow(d, g);
	metrics_count(&g->metrics, &g->out.verdict);
	tell_period(d, g, before);
	choice_make(g, &d->config);
}

static struct guest *in_turn(const struct daemon *d, unsigned int i)
{
	return d->guest[host_turn(d->period, i, d->nr)];
}

static void run(struct daemon *d, const uint64_t *free_bytes)
{
	uint64_t read_at = clock_ns();
	unsigned int i;

	/* How many accesses there are, neither source of samples tells. */
	host_next_period(&d->host, &d->config, free_bytes, -1);
	for (i = 0; i < d->nr; i++)
		look(d, d->guest[i]);
	for (i = 0; i < d->nr; i++)
		if (in_turn(d, i)->looked)
			decide_for(d, in_turn(d, i));
	if (record_any())
		record(d, free_bytes);
	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->looked)
			d->guest[i]->nr_samples = 0;
	for (i = 0; i < d->nr; i++) {
		if (in_turn(d, i)->looked)
			end_of_period(d, in_turn(d, i));
		/* Moving takes its time, and Xen ends sampling that nobody reads. */
		if (clock_ns() - read_at >= READ_MS * MS) {
			sampling_read_all(d);
			read_at = clock_ns();
		}
	}
}

static void drop_gone(struct daemon *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->gone)
			sampling_end(d->guest[i]);
	guests_drop_gone(d);
}

void period_run(struct daemon *d)
{
	uint64_t free_bytes[NODES_MAX] = { 0 };
	int error;

	follow_store(d);
	/* For what was switched off, nothing more is done. */
	drop_gone(d);
	error = xen_look_at_host(free_bytes);
	if (error && error != d->host_error)
		log_line(LEVEL_ERROR, "cannot ask Xen for its nodes: %s; tried again each period", strerror(error));
	d->host_error = error;
	if (!error)
		run(d, free_bytes);
	drop_gone(d);
	if (*d->config.metrics)
		write_metrics(d);
	d->period++;
}
