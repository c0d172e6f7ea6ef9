/* SPDX-License-Identifier: GPL-2.0-only */
/* Contention as queues with one waiting line each, and a fixed point of duration and use. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "model.h"

#define STEPS 60	/* of bisection: more than a double can tell apart */

/* Bytes that go through each controller and link, and those of them that one CPU's misses are. */
struct traffic {
	double node[MAX_NODES], link[MAX_LINKS];
};

/* An epoch while its duration is looked for. */
struct epoch {
	const struct model *model;
	const struct work *work;
	struct traffic all;
	struct traffic own[MAX_CPUS];	/* of one of the CPUs that the emulated one stands for */
	struct cpu_time cpu[MAX_CPUS];
};

static double queue(double rho)
{
	/* beyond, the duration has hit its lower bound and is stretched */
	rho = CLAMP(rho, 0, 0.999);
	return rho / (1 - rho);
}

static double service(const struct machine *m, double gib)
{
	return LINE_BYTES / bytes_a_cycle(m, gib);
}

static void add_route(struct traffic *t, const struct route *r, double bytes)
{
	for (unsigned int hop = 0; hop < r->hops; hop++)
		t->link[r->link[hop]] += bytes;
}

/* Cycles that data waits for links on its way, when they carry `t` in `duration`, its `own` part left out. */
static double wait_on_links(const struct machine *m, const struct route *r, const struct traffic *t, const struct traffic *own,
			    double duration)
{
	double cycles = 0;

	for (unsigned int hop = 0; hop < r->hops; hop++) {
		unsigned int i = r->link[hop];
		double rate = bytes_a_cycle(m, m->link[i].bandwidth);

		cycles += service(m, m->link[i].bandwidth) * queue((t->link[i] - own->link[i]) / duration / rate);
	}
	return cycles;
}

/*
 * The measurement behind `loaded`: `loaded_threads` of each node read node 0, one access of each at a time.  Their latencies are
 * known, so are their rates, and what is not explained by waiting for links is the controller's queue.
 */
char *model_init(struct model *model, const struct machine *m)
{
	double rate[CLASSES], wait[CLASSES] = { 0 }, rho[CLASSES] = { 0 };
	double controller = bytes_a_cycle(m, m->controller);
	unsigned int seen[CLASSES] = { 0 };
	struct traffic all = { 0 };

	model->machine = m;
	for (unsigned int class = 0; class < CLASSES; class++)
		rate[class] = LINE_BYTES / m->loaded[class];
	for (unsigned int node = 0; node < m->nodes; node++) {
		const struct route *r = &m->route[0][node];

		all.node[0] += m->loaded_threads * rate[r->class];
		add_route(&all, r, m->loaded_threads * rate[r->class]);
	}
	if (all.node[0] >= controller)
		return g_strdup_printf("loaded=: these latencies need %.3g of a controller's %.3g GiB/s",
				       all.node[0] / controller * m->controller, m->controller);
	for (unsigned int node = 0; node < m->nodes; node++) {
		const struct route *r = &m->route[0][node];
		struct traffic own = { 0 };

		own.node[0] = rate[r->class];
		add_route(&own, r, rate[r->class]);
		seen[r->class]++;
		wait[r->class] += wait_on_links(m, r, &all, &own, 1);
		rho[r->class] = (all.node[0] - own.node[0]) / controller;
	}
	for (unsigned int class = 0; class < CLASSES; class++) {
		double rest = m->loaded[class] - m->alone[class] - (seen[class] ? wait[class] / seen[class] : 0);

		if (rest < 0)
			return g_strdup_printf("loaded=: waiting for links takes longer than %g cycles already", m->loaded[class]);
		model->queue[class] = seen[class] && rho[class] > 0 ? rest / queue(rho[class]) : 0;
	}
	return NULL;
}

double model_uncontended(const struct model *model, unsigned int cpu, const struct work *work)
{
	const struct machine *m = model->machine;
	double cycles = work->l2_hits * m->hit[0] + work->l3_hits * m->hit[1];

	if (m->translation)
		cycles += work->tlb_hits * m->translation->l2_hit;
	for (unsigned int node = 0; node < m->nodes; node++)
		cycles += work->misses[node] * m->alone[m->route[node][m->node_of_cpu[cpu]].class];
	return cycles;
}

/* Memory cycles of a CPU if the epoch takes `duration`. */
static double memory_cycles(const struct epoch *e, unsigned int cpu, double duration)
{
	const struct machine *m = e->model->machine;
	const struct work *work = &e->work[cpu];
	double cycles = model_uncontended(e->model, cpu, work), controller = bytes_a_cycle(m, m->controller);

	for (unsigned int node = 0; node < m->nodes; node++) {
		const struct route *r = &m->route[node][m->node_of_cpu[cpu]];
		double rho = (e->all.node[node] - e->own[cpu].node[node]) / duration / controller;

		if (work->misses[node] > 0)
			cycles += work->misses[node] *
				(e->model->queue[r->class] * queue(rho) + wait_on_links(m, r, &e->all, &e->own[cpu], duration));
	}
	return cycles;
}

/* What the slowest CPU takes if latencies are those of `duration`; falls as that grows. */
static double needed(struct epoch *e, double duration)
{
	double longest = 0;

	for (unsigned int cpu = 0; cpu < e->model->machine->cpus; cpu++) {
		if (!e->model->machine->watched[cpu])
			continue;
		e->cpu[cpu].contended = memory_cycles(e, cpu, duration);
		longest = MAX(longest, e->work[cpu].instructions + e->cpu[cpu].contended);
	}
	return longest;
}

static void add_traffic(struct epoch *e)
{
	const struct machine *m = e->model->machine;

	for (unsigned int cpu = 0; cpu < m->cpus; cpu++) {
		int here = m->node_of_cpu[cpu];

		if (!m->watched[cpu])
			continue;
		for (unsigned int node = 0; node < m->nodes; node++) {
			double read = e->work[cpu].misses[node] * LINE_BYTES;
			double written = e->work[cpu].write_backs[node] * LINE_BYTES;

			e->own[cpu].node[node] = read;
			add_route(&e->own[cpu], &m->route[node][here], read);
			e->all.node[node] += m->stands_for * (read + written);
			add_route(&e->all, &m->route[node][here], m->stands_for * read);
			add_route(&e->all, &m->route[here][node], m->stands_for * written);
		}
	}
}

/* The shortest duration in which all bytes fit. */
static double at_least(const struct epoch *e)
{
	const struct machine *m = e->model->machine;
	double duration = 0;

	for (unsigned int node = 0; node < m->nodes; node++)
		duration = MAX(duration, e->all.node[node] / bytes_a_cycle(m, m->controller));
	for (unsigned int i = 0; i < m->links; i++)
		duration = MAX(duration, e->all.link[i] / bytes_a_cycle(m, m->link[i].bandwidth));
	return duration;
}

static double find_duration(struct epoch *e)
{
	double low = at_least(e), high;

	if (low <= 0)
		return needed(e, INFINITY);
	if (needed(e, low) <= low)
		return low;
	for (high = 2 * low; needed(e, high) > high; high *= 2)
		low = high;
	for (unsigned int step = 0; step < STEPS; step++) {
		double middle = (low + high) / 2;

		if (needed(e, middle) > middle)
			low = middle;
		else
			high = middle;
	}
	needed(e, high);
	return high;
}

static double add_use(struct use *use, double bytes, double rate, double duration)
{
	double share = bytes / rate / duration;

	use->bytes += bytes;
	use->time += share * duration;
	use->max = MAX(use->max, share);
	return share;
}

void model_epoch(const struct model *model, const struct work *work, struct totals *totals)
{
	const struct machine *m = model->machine;
	g_autofree struct epoch *e = g_new0(struct epoch, 1);
	double duration, busiest = 0;

	e->model = model;
	e->work = work;
	add_traffic(e);
	duration = find_duration(e);
	if (duration <= 0)
		return;
	totals->epochs++;
	totals->duration += duration;
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++) {
		if (!m->watched[cpu])
			continue;
		totals->cpu[cpu].instructions += work[cpu].instructions;
		totals->cpu[cpu].uncontended += model_uncontended(model, cpu, &work[cpu]);
		totals->cpu[cpu].contended += e->cpu[cpu].contended;
	}
	for (unsigned int node = 0; node < m->nodes; node++)
		add_use(&totals->node[node], e->all.node[node], bytes_a_cycle(m, m->controller), duration);
	for (unsigned int i = 0; i < m->links; i++) {
		double share = add_use(&totals->link[i], e->all.link[i], bytes_a_cycle(m, m->link[i].bandwidth), duration);

		busiest = MAX(busiest, share);
	}
	totals->busiest_link += busiest * duration;
}
