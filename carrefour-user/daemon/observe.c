/* SPDX-License-Identifier: GPL-2.0-only */
/* What Xen has seen of a guest in the period: samples, counters, policy, where its vCPUs belong. */
#include <errno.h>
#include <string.h>

#include "daemon/observe.h"
#include "daemon/sampling.h"

#define VCPUS_PERIODS 10	/* affinity changes seldom, and each vCPU is a domctl */

/* Home nodes of nothing: the policy has none, and any node will do. */
static uint64_t home_of(const struct xen_policy *p, unsigned int nr_nodes)
{
	return p->home ? p->home : nr_nodes < NODES_MAX ? (1ULL << nr_nodes) - 1 : ~0ULL;
}

static int ask_of_vcpus(struct guest *g, uint64_t period)
{
	int error;

	if (g->vcpus_at > period)
		return 0;
	error = xen_vcpu_nodes(g->switches.id, &g->vcpu_node, &g->nr_vcpus);
	/* Guests that were switched on together are not asked of together for ever. */
	if (!error)
		g->vcpus_at = period + (g->vcpus_at ? VCPUS_PERIODS : 1 + g->switches.id % VCPUS_PERIODS);
	return error;
}

static bool ask_of_domain(const struct daemon *d, struct guest *g)
{
	int error = xen_policy_get(g->switches.id, &g->policy);

	if (!error)
		error = ask_of_vcpus(g, d->period);
	/* If it is gone, the next START or GET says so. */
	if (guest_says(g, TOPIC_POLICY, error == ESRCH ? 0 : error, d->now))
		guest_log(g, LEVEL_WARNING, "policy and affinity: %s; tried again each period", strerror(error));
	return !error;
}

/* Xen adds it up when it samples, which may be in the period after it. */
static uint64_t ran_ns(const struct daemon *d, const struct guest *g)
{
	uint64_t most = d->ns * g->nr_vcpus;

	return g->period.guest_ns < most ? g->period.guest_ns : most;
}

static void count_faults(const struct daemon *d, struct guest *g)
{
	struct ring_faults *f = &g->faults;

	g->metrics.lost += f->lost + f->bad;
	if (guest_says(g, TOPIC_LOST, f->lost || f->bad, d->now))
		guest_log(g, LEVEL_WARNING, "%llu samples of a period were lost, %llu make no sense; the metrics count on",
			  (unsigned long long)f->lost, (unsigned long long)f->bad);
	*f = (struct ring_faults){ 0 };
}

static void know_nothing(const struct daemon *d, struct guest *g)
{
	g->looked = g->metrics.known = false;
	counters_clear(&g->period, d->host.nr_nodes);
}

void observe_nothing(struct daemon *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		know_nothing(d, d->guest[i]);
}

void observe(struct daemon *d, struct guest *g)
{
	const struct counters *c = &g->period;

	sampling_keep(g, d);
	g->looked = g->looked && ask_of_domain(d, g);
	if (!g->looked) {
		know_nothing(d, g);
		return;
	}
	g->metrics.known = true;
	counters_take(&g->seen, &g->period, d->host.nr_nodes);
	g->in = (struct input){
		.ns = d->ns, .sample = g->sample, .nr_samples = g->nr_samples, .matrix = c->matrix,
		.marked = c->marked, .faults = c->faults, .ran_ns = ran_ns(d, g), .home = home_of(&g->policy, d->host.nr_nodes),
		.vcpu_node = g->vcpu_node, .nr_vcpus = g->nr_vcpus,
	};
	g->metrics.dropped += c->dropped;
	g->metrics.sampling_ns += c->ns;
	g->metrics.guest_ns += c->guest_ns;
	count_faults(d, g);
}
