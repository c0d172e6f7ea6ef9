/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "heal/worth.h"

static double cores_of(const struct heal_groups *g, uint64_t which)
{
	double cores = 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		if (which >> i & 1)
			cores += g->cores[i];
	return cores;
}

struct heal_place heal_place_of(const struct heal_groups *g, const struct heal_vm *vm)
{
	struct heal_place place = { .home = heal_groups_with(g, vm->affinity) & g->with_cpus };
	unsigned int i, n;

	if (!place.home)
		place.home = g->with_cpus;
	for (i = 0; i < g->nr; i++)
		for (n = 0; n < NODES_MAX; n++)
			if (g->nodes[i] >> n & 1) {
				place.bytes[i] += vm->bytes[n];
				place.all += vm->bytes[n];
			}
	return place;
}

/* A VM's work is spread over its home by cores. */
static void add_work(struct heal_state *s, unsigned int vm, double sign)
{
	const struct heal_place *p = &s->place[vm];
	double cores = cores_of(&s->groups, p->home);
	unsigned int i;

	for (i = 0; cores > 0 && i < s->groups.nr; i++)
		if (p->home >> i & 1)
			s->work[i] += sign * s->host->vm[vm].load * s->groups.cores[i] / cores;
}

bool heal_state_begin(struct heal_state *s, const struct heal_host *host, const struct heal_rules *rules)
{
	unsigned int v;

	*s = (struct heal_state){ .host = host, .rules = rules, .groups = heal_groups_of(host, rules) };
	s->place = calloc(host->nr_vms + 1, sizeof(*s->place));
	if (!s->place)
		return false;
	for (v = 0; v < host->nr_vms; v++) {
		s->place[v] = heal_place_of(&s->groups, &host->vm[v]);
		add_work(s, v, 1);
	}
	return true;
}

void heal_state_end(struct heal_state *s)
{
	free(s->place);
	s->place = NULL;
}

void heal_state_put(struct heal_state *s, unsigned int vm, const struct heal_place *place)
{
	struct heal_place *p = &s->place[vm];
	unsigned int i;

	add_work(s, vm, -1);
	for (i = 0; i < s->groups.nr; i++)
		s->groups.free[i] += p->bytes[i] - place->bytes[i];
	*p = *place;
	add_work(s, vm, 1);
}

/* What is lost where work shares cores: the second thread of a core brings less than the first. */
static double lost_to_siblings(const struct heal_state *s, unsigned int i)
{
	double cores = s->groups.cores[i], cpus = s->groups.cpus[i], work = s->work[i] < cpus ? s->work[i] : cpus;

	return work > cores ? (work - cores) * (1 - s->rules->sibling_worth) : 0;
}

struct heal_flow heal_flow_of(const struct heal_state *s)
{
	struct heal_flow flow = { .lost = 0 };
	double idle = 0, too_much = 0, gone;
	unsigned int i;

	for (i = 0; i < s->groups.nr; i++) {
		double over = s->work[i] - s->groups.cpus[i];

		if (over > 0)
			too_much += over;
		else
			idle -= over;
		flow.lost += lost_to_siblings(s, i);
	}
	gone = too_much > idle ? idle : too_much;
	flow.lost += too_much - gone;
	for (i = 0; i < s->groups.nr; i++) {
		double over = s->work[i] - s->groups.cpus[i];

		flow.stays[i] = over > 0 ? 1 - over / s->work[i] * gone / too_much : 1;
		flow.goes[i] = over < 0 ? -over / idle : 0;
	}
	return flow;
}

double heal_local(const struct heal_state *s, const struct heal_flow *flow, unsigned int vm)
{
	const struct heal_place *p = &s->place[vm];
	double cores = cores_of(&s->groups, p->home), stays = 0, elsewhere = 0, local = 0;
	unsigned int i;

	if (!p->all || cores <= 0)
		return 1;
	for (i = 0; i < s->groups.nr; i++) {
		double part = p->home >> i & 1 ? s->groups.cores[i] / cores : 0;

		local += part * flow->stays[i] * p->bytes[i];
		elsewhere += flow->goes[i] * p->bytes[i];
		stays += part * flow->stays[i];
	}
	return (local + (1 - stays) * elsewhere) / p->all;
}

double heal_worth(const struct heal_state *s, const struct heal_flow *flow)
{
	double worth = -flow->lost;
	unsigned int v;

	for (v = 0; v < s->host->nr_vms; v++)
		worth += s->host->vm[v].load * s->rules->remote_cost * heal_local(s, flow, v);
	return worth;
}
