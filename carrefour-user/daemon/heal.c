/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/breathe.h"
#include "daemon/heal-act.h"
#include "daemon/heal.h"
#include "process/log.h"
#include "store/store.h"

bool heal_due(struct daemon *d)
{
	if (!d->config.heal && d->healing.looked_at)
		healing_free(&d->healing);
	return d->config.heal && (!d->healing.looked_at || d->now - d->healing.looked_at >= HEAL_NS);
}

static uint64_t all_nodes(const struct daemon *d, const struct xen_node_load *node)
{
	uint64_t nodes = 0;
	unsigned int n;

	for (n = 0; n < d->host.nr_nodes; n++)
		if (node[n].cpus)
			nodes |= 1ULL << n;
	return nodes;
}

/* Its user has said where it is to be: by the policy's nodes, by a pool, or by CPUs on which alone it, or any vCPU, may run. */
static bool is_named(const struct hosted *h, const struct xen_domain_load *load, uint64_t all)
{
	return (h->has_policy && !h->policy.follows_affinity) || (load->each & all) != all;
}

static struct heal_vm seen(const struct daemon *d, const struct hosted *h, const struct healing_vm *vm,
			   const struct xen_domain_load *load, uint64_t all)
{
	uint64_t age = d->now - vm->seen_at, nodes = load->may & load->prefers;
	struct heal_vm v = {
		.id = vm->id, .vcpus = load->vcpus, .load = vm->load, .usual = age ? (double)vm->used_ns / age : 0, .peak = vm->peak,
		.strays = -1, .affinity = (nodes & all) == all ? 0 : nodes, .age_ns = age,
		.calm_ns = vm->home_at ? d->now - vm->home_at : UINT64_MAX,
		.named = is_named(h, load, all),
		.unmovable = vm->unmovable || d->now < vm->stuck_until || h->xen.pv || !h->has_policy || load->vnuma,
		.watched = guests_find(d, vm->id) != NULL,
		.off = store_keeps_off(vm->id),
	};

	memcpy(v.bytes, h->bytes, sizeof(v.bytes));
	/* What Xen does not tell, or was just seen, is not known. */
	if (!h->xen.pv && (!h->has_memory || !vm->known))
		v.age_ns = 0;
	return v;
}

/* Their order is that of the healing's. 0 or an errno; one that is gone meanwhile is left out. */
static int ask_all(struct daemon *d, struct heal_vm *vm, unsigned int *nr, uint64_t all)
{
	struct healing *healing = &d->healing;
	unsigned int i;

	for (i = 0; i < healing->nr; i++)
		healing->vm[i].there = false;
	for (i = 0, *nr = 0; i < d->census.nr && breathe(d); i++) {
		const struct hosted *h = &d->census.hosted[i];
		struct xen_domain_load load;
		struct healing_vm *v;
		int error = xen_domain_load(h->xen.id, &load);

		if (error == ESRCH)
			continue;
		if (error)
			return error;
		v = healing_of(healing, h->xen.id, d->now);
		if (!v)
			return ENOMEM;
		v->there = true;
		memcpy(v->name, h->name, sizeof(v->name));
		v->placed = h->has_policy && strcmp(h->policy.name, "none");
		healing_used(v, load.cpu_ns, d->now);
		vm[(*nr)++] = seen(d, h, v, &load, all);
	}
	healing_drop(healing);
	return 0;
}

/* Advice that was said is not said again, as long as it is the same. */
static bool is_new(const struct healing_vm *vm, const struct heal_action *a)
{
	return vm->left != LEFT_ACTED || vm->action.why != a->why || vm->action.home != a->home;
}

static void say(struct healing_vm *vm, const struct heal_action *a, bool does)
{
	char text[HEAL_TEXT];

	heal_describe(text, sizeof(text), a, vm->id, vm->name, vm->placed);
	/* The policy stays as it is, which no command can do. */
	if (does)
		log_line(LEVEL_INFO, "heal begins: %.*s %s", (int)strcspn(text, "&#"), text, strchr(text, '#'));
	else if (is_new(vm, a))
		log_line(LEVEL_INFO, "heal advises: %s", text);
	vm->action = *a;
}

static void tell(struct healing *healing, const struct heal_plan *plan, bool does)
{
	unsigned int i;

	for (i = 0; i < plan->nr; i++)
		say(&healing->vm[plan->action[i].vm], &plan->action[i], does);
	for (i = 0; i < healing->nr; i++)
		healing->vm[i].left = plan->left[i];
}

static int decide_on(struct daemon *d, const struct heal_host *host, const struct heal_rules *rules, uint64_t nodes)
{
	bool does = d->config.heal == HEAL_ON;
	struct heal_plan plan;

	if (!heal_plan(&plan, host, rules))
		return ENOMEM;
	if (d->ends) {
		heal_plan_free(&plan);
		return 0;
	}
	tell(&d->healing, &plan, does);
	if (does) {
		heal_ledger_add(&d->healing.ledger, host, &plan, d->now);
		heal_act_begin(d, host, &plan, nodes);
	}
	heal_plan_free(&plan);
	return 0;
}

/* What it may, and what came of what it did. */
static int look_back(struct daemon *d, struct heal_host *host, const struct heal_rules *rules, uint64_t all, uint64_t ns)
{
	struct healing *h = &d->healing;

	host->may_move = heal_budget_left(&h->budget, rules, d->now, all);
	if (d->config.heal == HEAL_ON && !heal_ledger_look(&h->ledger, host, rules, d->now, ns))
		return ENOMEM;
	host->stopped = heal_ledger_stops(&h->ledger);
	return 0;
}

static bool goes_on(void *with)
{
	return breathe(with);
}

/* @ns ago it looked last. */
static int look(struct daemon *d, uint64_t ns)
{
	struct xen_node_load node[NODES_MAX];
	struct heal_host host = { .nr_nodes = d->host.nr_nodes, .topology = d->host.topology, .between = goes_on, .with = d };
	struct heal_rules rules = heal_rules;
	struct heal_vm *vm = calloc(d->census.nr + 1, sizeof(*vm));
	uint64_t all = 0, nodes = 0;
	unsigned int n;
	int error = vm ? xen_node_loads(node) : ENOMEM;

	if (!error) {
		healing_nodes(&d->healing, node, host.nr_nodes, d->now);
		nodes = all_nodes(d, node);
		error = ask_all(d, vm, &host.nr_vms, nodes);
	}
	for (n = 0; !error && n < host.nr_nodes; n++) {
		host.node[n] = (struct heal_node){ .bytes = d->node_bytes[n], .free = d->node_free[n], .cpus = node[n].cpus,
						   .cores = node[n].cores, .crowded_ns = d->healing.crowded_ns[n] };
		all += d->node_bytes[n];
	}
	host.vm = vm;
	rules.reserve = d->config.node_reserve_mb * MIB;
	/* Half of the host decides nothing. */
	if (!error && !d->ends)
		error = look_back(d, &host, &rules, all, ns);
	/* What was decided is done first. */
	if (!error && !d->ends && !d->healing.nr_tasks)
		error = decide_on(d, &host, &rules, nodes);
	free(vm);
	return error;
}

void heal_look(struct daemon *d)
{
	uint64_t ns = d->healing.looked_at ? d->now - d->healing.looked_at : 0;
	int error;

	d->healing.looked_at = d->now;
	error = look(d, ns);
	if (error && error != d->healing.error)
		log_line(LEVEL_WARNING, "heal cannot look at the host: %s; tried again each minute", strerror(error));
	d->healing.error = error;
}
