/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries what could be typed: of what there is room for, what changes least and is good enough, or else the best. */
#include <stdio.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "cmd/advice.h"

#define LOW 800		/* permille: what is below asks for a repair; as administrators of ESXi have it */
#define GAIN 100	/* what a repair must bring */
#define WAYS 3

struct repair {
	struct placement then;
	char command[ADVICE_TEXT], why[ADVICE_TEXT];
};

static bool has_room(const struct facts *facts, const struct nodes *nodes, const struct placement *then)
{
	uint64_t wanted = 0, room = 0;
	unsigned int node;

	for (node = 0; node < nodes->nr; node++) {
		uint64_t before = facts->placement.memory[node], more;

		if (then->memory[node] <= before)
			continue;
		more = then->memory[node] - before;
		wanted += more;
		room += more < nodes->free[node] ? more : nodes->free[node];
	}
	/* Half of it helps half as much. */
	return room >= wanted / 2;
}

/* Memory goes to these nodes; under first-touch what is on one of them stays. */
static void place(const struct facts *facts, const uint32_t weight[NODES_MAX], struct placement *then)
{
	bool stays = !strcmp(facts->policy.name, "first-touch");
	uint64_t moves = facts->memory - (stays ? usage_of_nodes(&facts->usage, weight) : 0);
	unsigned int node;
	uint64_t sum = 0;

	for (node = 0; node < NODES_MAX; node++)
		sum += weight[node];
	*then = facts->placement;
	for (node = 0; node < NODES_MAX; node++) {
		if (!stays || !weight[node])
			then->memory[node] = 0;
		if (weight[node])
			then->memory[node] += moves / sum * weight[node];
	}
}

static bool same_nodes(const uint32_t a[NODES_MAX], const uint32_t b[NODES_MAX])
{
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		if (!a[node] != !b[node])
			return false;
	return true;
}

/* The policy stays, where there is one. */
static const char *policy_to_set(const struct facts *facts)
{
	return policy_places(&facts->policy) ? "" : " round-4k";
}

static bool by_policy(const struct facts *facts, const struct nodes *nodes, struct repair *repair)
{
	(void)nodes;
	place(facts, facts->policy.weight, &repair->then);
	if (policy_places(&facts->policy)) {
		snprintf(repair->command, ADVICE_TEXT, "xl numa-policy rebalance %s", domain_argument(&facts->domain));
		snprintf(repair->why, ADVICE_TEXT, "its memory is not where its policy wants it");
	} else {
		snprintf(repair->command, ADVICE_TEXT, "xl numa-policy set %s round-4k --rebalance",
			 domain_argument(&facts->domain));
		snprintf(repair->why, ADVICE_TEXT, "its memory is not spread as its vCPUs are");
	}
	return true;
}

static bool by_vcpus(const struct facts *facts, const struct nodes *nodes, struct repair *repair)
{
	uint32_t target[NODES_MAX] = { 0 };
	char list[LIST_TEXT];
	unsigned int node;

	for (node = 0; node < nodes->nr; node++)
		target[node] = facts->may_run[node] && nodes->memory[node];
	if (!*format_nodes(list, target) || same_nodes(target, facts->policy.weight))
		return false;
	place(facts, target, &repair->then);
	snprintf(repair->command, ADVICE_TEXT, "xl numa-policy set %s%s --nodes %s --rebalance",
		 domain_argument(&facts->domain), policy_to_set(facts), list);
	snprintf(repair->why, ADVICE_TEXT, "its vCPUs are to run on other nodes than its home nodes");
	return true;
}

/* On the node with most room; vCPUs follow by soft affinity, so that they still run where that one is busy. */
static bool on_one_node(const struct facts *facts, const struct nodes *nodes, struct repair *repair)
{
	const struct placement *now = &facts->placement;
	const char *name = domain_argument(&facts->domain);
	unsigned int node, best = NO_NODE;
	uint32_t vcpus = 0;

	for (node = 0; node < NODES_MAX; node++)
		vcpus += now->vcpus[node];
	for (node = 0; node < nodes->nr; node++)
		if (facts->may_run[node] && nodes->memory[node] && nodes->cpus[node] >= vcpus &&
		    nodes->free[node] + now->memory[node] >= facts->memory &&
		    (best == NO_NODE || nodes->free[node] + now->memory[node] > nodes->free[best] + now->memory[best]))
			best = node;
	if (best == NO_NODE)
		return false;
	repair->then = (struct placement){ 0 };
	repair->then.memory[best] = facts->memory;
	repair->then.vcpus[best] = vcpus;
	snprintf(repair->command, ADVICE_TEXT,
		 "xl vcpu-pin %s all - nodes:%u && xl numa-policy set %s%s --nodes %u --rebalance", name, best, name,
		 policy_to_set(facts), best);
	snprintf(repair->why, ADVICE_TEXT, "it is on %u nodes, and would fit on one", facts->fit.in_use);
	return true;
}

/* Whatever its policy is: all that helps moves memory. */
static bool is_movable(const struct domain *domain)
{
	enum result result = backend_may_move(domain->id, false);

	return result == RESULT_OK || result == RESULT_NO_POLICY;
}

/* NULL: none that helps. */
static const struct repair *find_repair(const struct facts *facts, const struct nodes *nodes, struct repair *repairs)
{
	static bool (*const ways[WAYS])(const struct facts *, const struct nodes *, struct repair *) = {
		by_policy, by_vcpus, on_one_node
	};
	unsigned int i, then, most = fit_permille(&facts->placement, nodes) + GAIN;
	const struct repair *best = NULL;

	for (i = 0; i < WAYS; i++) {
		if (!ways[i](facts, nodes, &repairs[i]) || !has_room(facts, nodes, &repairs[i].then))
			continue;
		then = fit_permille(&repairs[i].then, nodes);
		if (then < most)
			continue;
		most = then + 1;
		best = &repairs[i];
		if (then >= LOW)
			break;
	}
	return best;
}

bool find_advice(const struct facts *facts, const struct nodes *nodes, char command[ADVICE_TEXT], char why[ADVICE_TEXT])
{
	const struct share *numa = &facts->numa.share;
	bool off = facts->has_carrefour && !facts->carrefour && facts->automatic && strcmp(facts->automatic, "on");
	const struct repair *repair;
	struct repair repairs[WAYS];

	if (!facts->has_fit || facts->policy.vnuma || numa->part * 1000 / numa->whole >= LOW)
		return false;
	repair = find_repair(facts, nodes, repairs);
	if (repair && !is_movable(&facts->domain))
		return false;
	if (repair) {
		memcpy(command, repair->command, ADVICE_TEXT);
		memcpy(why, repair->why, ADVICE_TEXT);
		return true;
	}
	/* It is where it should be, but the vCPUs access other parts of it. */
	if (facts->numa.estimated || !off)
		return false;
	snprintf(command, ADVICE_TEXT, "xl numa-policy set %s +auto", domain_argument(&facts->domain));
	snprintf(why, ADVICE_TEXT, "most accesses are not local, which carrefourd may change");
	return true;
}
