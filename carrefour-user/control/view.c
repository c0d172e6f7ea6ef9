/* SPDX-License-Identifier: GPL-2.0-only */
/* Documents: carrefourd(8) has their fields. Numbers are exact; ratios are in percent, with one decimal place. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "control/heal.h"
#include "control/view.h"
#include "decide/explain.h"

static const char *yes(bool value)
{
	return value ? "true" : "false";
}

/* Negative: it is not known. */
static void percent(FILE *f, const char *name, int permille)
{
	if (permille < 0)
		fprintf(f, "\"%s\": null", name);
	else
		fprintf(f, "\"%s\": %d.%d", name, permille / 10, permille % 10);
}

static void head(FILE *f, const struct guest *g)
{
	unsigned int n;
	const char *comma = "";

	fprintf(f, "\"id\": %u, \"name\": ", g->switches.id);
	json_text(f, g->switches.name);
	fputs(", \"policy\": ", f);
	json_text(f, g->policy.name);
	fputs(", \"home_nodes\": [", f);
	for (n = 0; n < NODES_MAX; n++)
		if (g->policy.home >> n & 1) {
			fprintf(f, "%s%u", comma, n);
			comma = ", ";
		}
	fprintf(f, "], \"carrefour\": %s, \"auto\": \"%s\"", yes(g->switches.carrefour), auto_mode_name(g->switches.mode));
}

static void sampling(FILE *f, const struct guest *g)
{
	fprintf(f, "\"sampling\": \"%s\", \"sampling_error\": ", sampling_name(g->sampling));
	json_text(f, g->error ? strerrorname_np(g->error) : NULL);
	fprintf(f, ", \"period_faults\": %" PRIu64 ", \"period_marked\": %" PRIu64 ", \"period_sampling_ns\": %" PRIu64
		", \"period_guest_ns\": %" PRIu64 ", \"pages_remembered\": %u", g->period.faults, g->period.marked, g->period.ns,
		g->period.guest_ns, g->domain ? domain_pages(g->domain) : 0);
}

static void advice(FILE *f, const struct guest *g)
{
	if (!g->advised) {
		fputs("\"advice\": null", f);
		return;
	}
	fprintf(f, "\"advice\": {\"class\": \"%s\", \"policy\": \"%s\", \"carrefour\": %s, ", class_name(g->advice.class),
		g->advice.policy, yes(g->advice.carrefour));
	percent(f, "imbalance_percent", g->advice.imbalance);
	fputs(", ", f);
	percent(f, "private_percent", g->advice.private);
	fputs(", ", f);
	percent(f, "expected_percent", g->advice.expected);
	fputs(", ", f);
	percent(f, "came_percent", g->advice.came);
	fprintf(f, ", \"done\": %s}", yes(g->switches.mode == AUTO_ON && g->applied));
}

static void last_period(FILE *f, const struct guest *g)
{
	static const struct verdict nothing;
	/* What was so before is not what is. */
	const struct verdict *v = g->metrics.known ? &g->metrics.last : &nothing;
	const struct measure *m = &v->measure;
	/* A share of nothing is none. */
	bool sampled = m->samples;

	fputs("\"state\": ", f);
	json_text(f, g->metrics.known ? state_name(v->state) : NULL);
	fprintf(f, ", \"samples\": %" PRIu64 ", ", m->samples);
	percent(f, "local_percent", sampled ? (int)m->local : -1);
	fputs(", ", f);
	percent(f, "imbalance_percent", sampled ? (int)m->imbalance : -1);
	if (m->pair)
		fprintf(f, ", \"busiest_pair\": [%u, %u], ", m->pair_from, m->pair_to);
	else
		fputs(", \"busiest_pair\": null, ", f);
	percent(f, "busiest_pair_percent", sampled ? (int)m->pair : -1);
	fprintf(f, ", \"moves\": %u, \"moved_bytes\": %" PRIu64 ", \"frozen\": %u, \"splits_on_trial\": %u, \"backoff_ms\": %"
		PRIu64, v->moves, v->bytes, v->frozen, v->splits_open, v->backoff_ms);
}

static void divided(FILE *f, const char *name, const uint64_t *number, unsigned int nr, const char *(*name_of)(unsigned int))
{
	unsigned int i;

	fprintf(f, ", \"%s\": {", name);
	for (i = 0; i < nr; i++)
		fprintf(f, "%s\"%s\": %" PRIu64, i ? ", " : "", name_of(i), number[i]);
	fputc('}', f);
}

static void totals(FILE *f, const struct domain_metrics *m)
{
	fprintf(f, "\"totals\": {\"periods\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"samples_dropped\": %" PRIu64
		", \"samples_lost\": %" PRIu64 ", \"samples_strange\": %" PRIu64 ", \"samples_untracked\": %" PRIu64
		", \"moves\": %" PRIu64 ", \"moved_bytes\": %" PRIu64 ", \"frozen\": %" PRIu64 ", \"backoffs\": %" PRIu64
		", \"sampling_ns\": %" PRIu64 ", \"guest_ns\": %" PRIu64,
		m->periods, m->samples, m->dropped, m->lost, m->strange, m->untracked, m->moves, m->bytes, m->frozen, m->backoffs,
		m->sampling_ns, m->guest_ns);
	divided(f, "results", m->results, NR_RESULTS, result_name);
	divided(f, "held", m->held, NR_HELD, held_name);
	fputc('}', f);
}

void view_show(FILE *f, const struct daemon *d)
{
	unsigned int i;

	fprintf(f, "{\"version\": 1, \"nodes\": %u, \"period\": %" PRIu64 ", \"period_ms\": %u, \"memory_mb\": %u, \"memory_bytes\": %zu"
		", \"domains\": [", d->host.nr_nodes, d->period, d->config.period_ms, d->config.memory_mb, guests_bytes(d));
	for (i = 0; i < d->nr; i++) {
		const struct guest *g = d->guest[i];

		fputs(i ? ",\n{" : "\n{", f);
		head(f, g);
		fputs(", ", f);
		sampling(f, g);
		fputs(", ", f);
		last_period(f, g);
		fputs(", ", f);
		advice(f, g);
		fputs(", ", f);
		totals(f, &g->metrics);
		fputc('}', f);
	}
	fputs("]}\n", f);
}

static void decision(FILE *f, const struct daemon *d, const struct event *event)
{
	const struct decision *x = &event->decision;
	char text[EXPLAIN_SIZE];

	explain_decision(text, x);
	fprintf(f, "{\"period\": %" PRIu64 ", \"seconds_ago\": %.1f, \"action\": \"%s\", \"reason\": \"%s\", \"gfn\": %" PRIu64
		", \"order\": %u, \"from\": %u, \"to\": %u, \"result\": ", event->period, (d->served_at - event->ns) / 1e9,
		action_name(x->action), why_name(x->why), x->gfn, x->order, x->from, x->to);
	json_text(f, x->action == ACTION_FREEZE ? NULL : result_name(event->result));
	fputs(", \"text\": ", f);
	json_text(f, text);
	fputc('}', f);
}

void view_explain(FILE *f, const struct daemon *d, const struct guest *g)
{
	char text[EXPLAIN_SIZE];
	const struct event *event;
	unsigned int i;

	fputs("{\"version\": 1, ", f);
	head(f, g);
	fputs(", ", f);
	sampling(f, g);
	fputs(", ", f);
	advice(f, g);
	fputs(", \"last_period\": ", f);
	explain_verdict(text, &g->metrics.last, &d->config);
	json_text(f, g->metrics.periods && g->metrics.known ? text : NULL);
	fputs(", \"auto_says\": ", f);
	if (g->advised)
		auto_explain(text, sizeof(text), &g->advice);
	json_text(f, g->advised ? text : NULL);
	fputs(", ", f);
	heal_view_fields(f, d, g->switches.id);
	fprintf(f, ", \"decisions_ever\": %" PRIu64 ", \"decisions\": [", g->history.nr);
	for (i = 0; (event = history_get(&g->history, i)); i++) {
		fputs(i ? ",\n" : "\n", f);
		decision(f, d, event);
	}
	fputs("]}\n", f);
}

void view_error(FILE *f, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fputs("{\"version\": 1, \"error\": ", f);
	json_text(f, text);
	fputs("}\n", f);
}
