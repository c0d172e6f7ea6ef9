/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "healer.h"

#define MINUTE_NS (60000 * MS)

static struct heal_vm seen(const struct world *w, const struct vm *vm, unsigned int minute)
{
	struct heal_vm h = {
		.id = vm->id, .vcpus = vm->vcpus, .load = vm->busy, .usual = vm->usual, .peak = vm->peak,
		.strays = w->shape.strays, .affinity = vm->affinity,
		.age_ns = (minute - vm->born) * MINUTE_NS, .calm_ns = vm->moved ? (minute - vm->moved) * MINUTE_NS : UINT64_MAX,
	};
	unsigned int n;

	for (n = 0; n < w->shape.nodes; n++)
		h.bytes[n] = vm->on[n] * MIB;
	return h;
}

static void look(struct heal_host *host, struct heal_vm *vm, const struct world *w, unsigned int minute)
{
	unsigned int i;

	*host = (struct heal_host){ .nr_nodes = w->shape.nodes, .nr_vms = w->nr, .vm = vm };
	for (i = 0; i < w->shape.nodes; i++)
		host->node[i] = (struct heal_node){ .bytes = w->shape.node_mib * MIB, .free = w->free[i] * MIB,
						    .cpus = w->shape.threads, .cores = w->shape.cores,
						    .crowded_ns = w->crowded[i] * MINUTE_NS };
	for (i = 0; i < w->nr; i++)
		vm[i] = seen(w, &w->vm[i], minute);
}

static uint64_t act(struct healer *h, struct world *w, const struct heal_action *a, unsigned int minute)
{
	struct vm *vm = &w->vm[a->vm];
	uint64_t mib = world_gather(w, vm, a->home, a->bytes / MIB);
	unsigned int n;

	h->actions[a->why]++;
	for (n = 0; n < w->shape.nodes; n++)
		if (a->why == HEAL_RELIEVE && vm->affinity >> n & 1)
			w->crowded[n] = 0;
	if (vm->affinity != a->home)
		vm->moved = minute;
	vm->affinity = a->home;
	h->moved_mib += mib;
	return mib;
}

bool healer_minute(struct healer *h, struct world *w, unsigned int minute)
{
	static struct heal_vm vm[VMS];
	struct heal_host host;
	struct heal_plan plan;
	uint64_t now = minute * MINUTE_NS, all = w->shape.nodes * w->shape.node_mib * MIB;
	unsigned int i;

	look(&host, vm, w, minute);
	if (!heal_ledger_look(&h->ledger, &host, &heal_rules, now, MINUTE_NS))
		return false;
	host.stopped = heal_ledger_stops(&h->ledger);
	host.may_move = heal_budget_left(&h->budget, &heal_rules, now, all);
	if (!heal_plan(&plan, &host, &heal_rules))
		return false;
	heal_ledger_add(&h->ledger, &host, &plan, now);
	for (i = 0; i < plan.nr; i++)
		heal_budget_took(&h->budget, now, act(h, w, &plan.action[i], minute) * MIB);
	memset(h->left, 0, sizeof(h->left));
	for (i = 0; i < w->nr; i++)
		h->left[plan.left[i]]++;
	heal_plan_free(&plan);
	if ((double)heal_budget_hour(&h->budget, now) / all > h->most_hour)
		h->most_hour = (double)heal_budget_hour(&h->budget, now) / all;
	return true;
}
