/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/record.h"
#include "daemon/breathe.h"
#include "daemon/tell.h"
#include "decide/explain.h"
#include "metrics/metrics.h"
#include "process/notify.h"

/* The state of a busy guest may be another one each period. */
#define STATE_NS (10000 * MS)
#define STATUS_PERIODS 10

static void log_decision(const struct guest *g, const struct decision *x, enum result result)
{
	char text[EXPLAIN_SIZE];

	explain_decision(text, x);
	if (x->action == ACTION_FREEZE)
		guest_log(g, LEVEL_INFO, "%s", text);
	else
		guest_log(g, LEVEL_INFO, "%s; %s", text, result_name(result));
}

void tell_decisions(struct daemon *d, struct guest *g, size_t first, size_t nr, const enum result *result)
{
	unsigned int most = d->config.log_decisions;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct decision *x = &g->out.decision[first + i];

		history_add(&g->history, &(struct event){ *x, d->period, d->now, result[i] });
		if (x->action != ACTION_FREEZE)
			g->metrics.results[result[i]]++;
		if (first + i < most)
			log_decision(g, x, result[i]);
	}
	if (most && first + nr == g->out.nr && g->out.nr > most)
		guest_log(g, LEVEL_INFO, "%zu decisions more in this period", g->out.nr - most);
}

void tell_period(const struct daemon *d, struct guest *g)
{
	const struct verdict *v = &g->out.verdict;
	struct said *said = &g->said[TOPIC_STATE];
	bool news = (int)v->state != said->error && (!said->at || d->now - said->at >= STATE_NS);
	char text[EXPLAIN_SIZE];

	metrics_count(&g->metrics, v);
	if (news)
		*said = (struct said){ .error = v->state, .at = d->now };
	if (!news && !log_is_verbose())
		return;
	explain_verdict(text, v, &d->config);
	guest_log(g, news ? LEVEL_INFO : LEVEL_DEBUG, "%s", text);
}

void tell_status(const struct daemon *d)
{
	unsigned int active, sampled = guests_sampled(d, &active);

	if (d->period % STATUS_PERIODS == 0)
		notify("STATUS=%u VMs, %u of them sampled, %zu of %u MiB", d->nr, sampled, guests_bytes(d) >> 20,
		       d->config.memory_mb);
}

struct telling {
	struct daemon *d;
	struct trace_period *p;
};

/* More samples may have come meanwhile, and need more room: those of the period lie elsewhere then. */
static bool between(void *with)
{
	struct telling *t = with;
	bool goes_on = breathe(t->d);
	unsigned int i, k = 0;

	for (i = 0; i < t->d->nr; i++)
		if (t->d->guest[i]->looked)
			t->p->domain[k++].in.sample = t->d->guest[i]->sample;
	return goes_on;
}

void tell_recordings(struct daemon *d, const uint64_t *free_bytes)
{
	struct trace_domain *domain = calloc(d->nr + 1, sizeof(*domain));
	struct trace_period p = {
		.ns = d->ns, .accesses_per_us = d->host.accesses_per_us, .has_turn = true, .turn = d->period, .domain = domain,
	};
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
			.pages = g->domain && domain_pages(g->domain) != d->config.pages ? domain_pages(g->domain) : 0,
			.decision = (struct decision *)g->out.decision, .nr_decisions = g->out.nr,
		};
		snprintf(domain[p.nr++].policy, TRACE_POLICY_MAX, "%s", g->policy.name);
	}
	record_period(&p, d->host.nr_nodes, between, &(struct telling){ d, &p });
	free(domain);
}

void tell_no_metrics(struct daemon *d)
{
	if (d->metrics_there && unlink(d->metrics_file) && errno != ENOENT)
		log_line(LEVEL_WARNING, "%s: cannot remove it: %s", d->metrics_file, strerror(errno));
	d->metrics_there = false;
}

bool tell_metrics_due(struct daemon *d)
{
	if (strcmp(d->metrics_file, d->config.metrics)) {
		tell_no_metrics(d);
		strcpy(d->metrics_file, d->config.metrics);
		if (!*d->config.metrics && !d->config.heal)
			hosted_free(&d->census);
		return *d->config.metrics;
	}
	return *d->config.metrics && d->now - d->metrics_at >= d->config.metrics_ms * MS;
}

/* All but those of which another one has the name and the UUID. */
static struct metrics_domain *all_domains(const struct daemon *d, unsigned int *nr)
{
	struct metrics_domain *all = calloc(d->census.nr + 1, sizeof(*all));
	unsigned int i;

	*nr = 0;
	for (i = 0; all && i < d->census.nr; i++) {
		const struct hosted *h = &d->census.hosted[i];
		const struct guest *g = guests_find(d, h->xen.id);
		struct metrics_domain *m = &all[*nr];

		if (h->twin)
			continue;
		metrics_label(m, h->uuid, h->name);
		m->hosted = h;
		m->guest = g;
		m->carrefour = g ? &g->metrics : NULL;
		++*nr;
	}
	return all;
}

void tell_metrics(struct daemon *d)
{
	unsigned int nr;
	struct metrics_domain *all = all_domains(d, &nr);
	int error = 0;

	d->metrics_at = d->now;
	if (!all || !metrics_write(d->config.metrics, all, nr, d))
		error = errno;
	else
		d->metrics_there = true;
	free(all);
	if (error && error != d->metrics_error)
		log_line(LEVEL_WARNING, "%s: cannot write it: %s; tried again", d->config.metrics, strerror(error));
	d->metrics_error = error;
}
