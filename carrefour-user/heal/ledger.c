/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "heal/ledger.h"
#include "heal/worth.h"

#define DAY_NS (24 * 3600000 * MS)
#define TO_PAY 4		/* times as long as was predicted at most, then it is lost */
#define LOST_AT_LEAST 3		/* before lost ones say something */
#define LOST_PARTS 20		/* one in so many is too many */

static unsigned int kept(const struct heal_ledger *l)
{
	return l->nr < LEDGER_SIZE ? l->nr : LEDGER_SIZE;
}

const struct heal_entry *heal_ledger_get(const struct heal_ledger *l, unsigned int i)
{
	return i < kept(l) ? &l->entry[(l->nr - 1 - i) % LEDGER_SIZE] : NULL;
}

static void close_entry(struct heal_ledger *l, struct heal_entry *e)
{
	if (e->closed)
		return;
	e->closed = true;
	l->lost += !e->paid;
	l->regretted += e->paid && e->brought_ns < e->cost_ns;
}

/* The one of a domain that is not closed; there is at most one. */
static struct heal_entry *open_of(struct heal_ledger *l, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < kept(l); i++)
		if (l->entry[i].id == id && !l->entry[i].closed)
			return &l->entry[i];
	return NULL;
}

static void add(struct heal_ledger *l, const struct heal_vm *vm, const struct heal_action *a, uint64_t cost, uint64_t bytes,
		uint64_t now)
{
	struct heal_entry *e = open_of(l, vm->id);

	l->cost_ns += cost;
	if (e && e->home == a->home) {
		e->bytes += bytes;
		e->cost_ns += cost;
		l->paid -= e->paid;
		e->paid = false;
		e->local_predicted = a->local_after;
		return;
	}
	if (e)
		close_entry(l, e);
	e = &l->entry[l->nr % LEDGER_SIZE];
	if (l->nr++ >= LEDGER_SIZE)
		close_entry(l, e);
	*e = (struct heal_entry){
		.id = vm->id, .why = a->why, .at = now, .home = a->home, .home_before = vm->affinity, .bytes = bytes, .cost_ns = cost,
		.predicted = a->gain, .local_before = a->local_before, .local_predicted = a->local_after,
	};
	memcpy(e->bytes_before, vm->bytes, sizeof(e->bytes_before));
}

void heal_ledger_add(struct heal_ledger *l, const struct heal_host *host, const struct heal_plan *plan, uint64_t now)
{
	uint64_t cost = 0, bytes = 0;
	unsigned int i;

	for (i = 0; i < plan->nr; i++) {
		const struct heal_action *a = &plan->action[i];
		struct heal_entry *e;

		cost += a->cost_ns;
		bytes += a->bytes;
		if (a->why == HEAL_MAKE_ROOM) {
			/* Whatever was done for it before is over. */
			e = open_of(l, host->vm[a->vm].id);
			if (e)
				close_entry(l, e);
			continue;
		}
		add(l, &host->vm[a->vm], a, cost, bytes, now);
		cost = bytes = 0;
	}
}

void heal_ledger_undone(struct heal_ledger *l, unsigned int id, uint64_t at)
{
	struct heal_entry *e = open_of(l, id);

	if (!e || e->at != at)
		return;
	l->cost_ns -= e->cost_ns;
	l->paid -= e->paid;
	e->closed = e->undone = true;
}

/* What the host is worth more than if it had not been done. */
static double brings(struct heal_state *s, unsigned int vm, const struct heal_entry *e, double worth)
{
	struct heal_vm then = s->host->vm[vm];
	struct heal_place now = s->place[vm], before;
	struct heal_flow flow;

	then.affinity = e->home_before;
	memcpy(then.bytes, e->bytes_before, sizeof(then.bytes));
	before = heal_place_of(&s->groups, &then);
	heal_state_put(s, vm, &before);
	flow = heal_flow_of(s);
	worth -= heal_worth(s, &flow);
	heal_state_put(s, vm, &now);
	return worth;
}

static unsigned int find(const struct heal_host *host, unsigned int id)
{
	unsigned int v;

	for (v = 0; v < host->nr_vms && host->vm[v].id != id; v++)
		;
	return v;
}

bool heal_ledger_look(struct heal_ledger *l, const struct heal_host *host, const struct heal_rules *rules, uint64_t now,
		      uint64_t ns)
{
	struct heal_state s;
	struct heal_flow flow;
	double worth;
	unsigned int i;

	if (!heal_state_begin(&s, host, rules))
		return false;
	flow = heal_flow_of(&s);
	worth = heal_worth(&s, &flow);
	for (i = 0; i < kept(l); i++) {
		struct heal_entry *e = &l->entry[i];
		unsigned int vm = e->closed ? host->nr_vms : find(host, e->id);

		if (e->closed)
			continue;
		if (vm < host->nr_vms) {
			double came = brings(&s, vm, e, worth) * ns;

			e->brought_ns += came;
			l->brought_ns += came;
			l->paid += !e->paid && e->brought_ns >= e->cost_ns;
			e->paid |= e->brought_ns >= e->cost_ns;
		}
		if (vm == host->nr_vms || now - e->at >= DAY_NS || (now - e->at >= TO_PAY * rules->payback_ns && !e->paid))
			close_entry(l, e);
	}
	heal_state_end(&s);
	return true;
}

bool heal_ledger_stops(const struct heal_ledger *l)
{
	return l->lost > LOST_AT_LEAST && l->lost * LOST_PARTS > l->lost + l->paid;
}
