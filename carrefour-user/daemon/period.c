/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A period, for all guests: sampling is read and looked at, then all is decided, recorded, carried out and told. A domain
 * may vanish between any two steps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/record.h"
#include "daemon/apply.h"
#include "daemon/breathe.h"
#include "daemon/census.h"
#include "daemon/follow-memory.h"
#include "daemon/heal-act.h"
#include "daemon/heal.h"
#include "daemon/observe.h"
#include "daemon/orders.h"
#include "daemon/period.h"
#include "daemon/sampling.h"
#include "daemon/tell.h"
#include "process/clock.h"
#include "store/store.h"

static void follow_store(struct daemon *d)
{
	struct switches *switches;
	unsigned int nr;
	bool good;

	if (!store_check() || !store_switches(&switches, &nr))
		return;
	good = guests_sync(d, switches, nr);
	free(switches);
	if (!good)
		store_again();
	if (!good && !d->left_out)
		log_line(LEVEL_ERROR, "out of memory; some domains are left out, and tried again each period");
	d->left_out = !good;
}

static struct share share_of(const struct daemon *d, const struct guest *g)
{
	return guest_is_at_rest(g) ? memory_least() : d->share;
}

/* One that cannot be looked at now may have more than its share by now, which others need. */
static void give_back(struct guest *g, struct share share)
{
	sampling_give_back(g);
	if (g->domain && share.pages < domain_pages(g->domain) && domain_resize(g->domain, share.pages))
		g->shrunk = true;
}

/* There may be more guests, or fewer, or other ones at rest. */
static void divide_memory(struct daemon *d)
{
	unsigned int i, active, sampled = guests_sampled(d, &active);

	d->share = memory_share(&d->config, d->host.nr_nodes, sampled, active);
	for (i = 0; i < d->nr; i++) {
		struct share share = share_of(d, d->guest[i]);

		d->guest[i]->most = share.samples;
		if (!d->guest[i]->looked)
			give_back(d->guest[i], share);
	}
}

/* A trace has no period of one that was not looked at; that it shrank meanwhile, the size tells that it still has in the next. */
static uint32_t pages_of(const struct daemon *d, const struct guest *g)
{
	uint32_t pages = share_of(d, g).pages;

	return g->shrunk && pages > domain_pages(g->domain) ? domain_pages(g->domain) : pages;
}

/* Without Carrefour, and while it waits, nothing is decided: it would take from what others may move. */
static void decide_for(struct daemon *d, struct guest *g)
{
	struct outcome out = { .nr = 0 };
	struct nodes nodes;

	if (g->switches.carrefour && !g->follow.on && !g->domain)
		g->domain = domain_new(share_of(d, g).pages, d->host.nr_nodes, g->switches.id);
	if (guest_says(g, TOPIC_MEMORY, g->switches.carrefour && !g->follow.on && !g->domain ? ENOMEM : 0, d->now))
		guest_log(g, LEVEL_ERROR, "out of memory; tried again each period");
	/* Without memory for another table, the one that there is goes on. */
	if (g->domain)
		domain_resize(g->domain, pages_of(d, g));
	g->shrunk = false;
	/* More may have come since it was looked at, and need more room. */
	g->in.sample = g->sample;
	if (g->domain) {
		out = decide(g->domain, &d->config, &d->host, &g->in);
	} else {
		out.verdict.state = g->follow.on ? STATE_FOLLOWING : STATE_OFF;
		nodes = nodes_of(d->host.topology, d->host.nr_nodes, g->in.home);
		out.verdict.measure = measure(g->in.matrix, &nodes);
		out.verdict.accesses_per_us = d->host.accesses_per_us;
	}
	g->out = out;
	g->calm = out.verdict.measure.samples >= d->config.min_samples || out.verdict.splits_open ? 0 : g->calm + 1;
}

static void end_of_period(struct daemon *d, struct guest *g)
{
	orders_carry_out(d, g);
	if (g->out.verdict.state == STATE_FOLLOWING)
		follow_memory(d, g);
	tell_period(d, g);
	apply_advice(d, g);
}

/*
 * Whose turn it is to be the first, as an index. It goes around those that were looked at: a trace has no others, and
 * carrefour-replay takes the same turns.
 */
static unsigned int first_in_turn(const struct daemon *d)
{
	unsigned int i, nr = 0, before;

	for (i = 0; i < d->nr; i++)
		nr += d->guest[i]->looked;
	before = nr ? host_turn(d->period, 0, nr) : 0;
	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->looked && !before--)
			break;
	return i;
}

static struct guest *in_turn(const struct daemon *d, unsigned int first, unsigned int i)
{
	return d->guest[(first + i) % d->nr];
}

static void run(struct daemon *d)
{
	unsigned int i, first;

	/* How many accesses there are, neither source of samples tells. */
	host_next_period(&d->host, &d->config, d->node_free, -1);
	for (i = 0; i < d->nr && breathe(d); i++)
		observe(d, d->guest[i]);
	divide_memory(d);
	first = first_in_turn(d);
	for (i = 0; i < d->nr && breathe(d); i++)
		if (in_turn(d, first, i)->looked)
			decide_for(d, in_turn(d, first, i));
	if (d->ends)
		return;
	if (record_any())
		tell_recordings(d, d->node_free);
	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->looked)
			sampling_done(d->guest[i]);
	follow_memory_begin(d);
	for (i = 0; i < d->nr && breathe(d); i++)
		if (in_turn(d, first, i)->looked)
			end_of_period(d, in_turn(d, first, i));
}

static void drop_gone(struct daemon *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->gone)
			sampling_end(d->guest[i]);
	guests_drop_gone(d);
}

/* What concerns all domains, Carrefour or not. */
static void whole_host(struct daemon *d)
{
	bool due = tell_metrics_due(d), heals = heal_due(d);

	if (due || heals)
		census_look(d);
	if (heals && d->census.known && !d->ends)
		heal_look(d);
	if (!d->ends)
		heal_act(d);
	/* A file that is not written again is seen to be old. */
	if (due && d->census.known && !d->ends)
		tell_metrics(d);
}

static void count_period(struct daemon *d, uint64_t begun)
{
	uint64_t took = clock_ns() - begun;

	d->metrics.periods++;
	d->metrics.period_ns += took;
	d->metrics.late += took > d->config.period_ms * MS;
	d->metrics.ended_at = clock_wall_ns();
}

void period_run(struct daemon *d)
{
	uint64_t begun = clock_ns();
	int error;

	follow_store(d);
	/* For what was switched off, nothing more is done. */
	drop_gone(d);
	error = xen_look_at_host(d->node_free);
	if (error && error != d->host_error)
		log_line(LEVEL_ERROR, "cannot ask Xen for its nodes: %s; tried again each period", strerror(error));
	d->host_error = error;
	if (error)
		observe_nothing(d);
	else
		run(d);
	drop_gone(d);
	if (!error && !d->ends) {
		xen_host_memory(d->node_bytes);
		whole_host(d);
	}
	tell_status(d);
	count_period(d, begun);
	d->period++;
}
