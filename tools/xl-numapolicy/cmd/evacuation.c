/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides where the memory of one VM goes, and has it moved by its policy. */
#include <stdio.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "ask/spec.h"
#include "cmd/evacuation.h"

#define OWN 100		/* 1 / that of a VM's memory makes a node one of its own */

static bool can_take(const struct leaving *leaving, unsigned int node)
{
	return node != leaving->node && leaving->nodes.memory[node] && leaving->nodes.cpus[node];
}

/* The fewest nodes with room for @bytes, those with most first; all that there are if they have none. */
static void pick_targets(const struct leaving *leaving, uint64_t bytes, uint32_t target[NODES_MAX])
{
	const struct nodes *nodes = &leaving->nodes;
	uint64_t room = 0;

	while (room < bytes || !room) {
		unsigned int node, best = NO_NODE;

		for (node = 0; node < nodes->nr; node++)
			if (can_take(leaving, node) && !target[node] &&
			    (best == NO_NODE || nodes->free[node] > nodes->free[best]))
				best = node;
		if (best == NO_NODE)
			return;
		target[best] = 1;
		room += nodes->free[best];
	}
}

/* Where policy none has its memory is where it is at home. */
static void find_own(const struct usage *usage, uint32_t own[NODES_MAX])
{
	uint64_t total = usage_total(usage);
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		own[node] = total && usage_of_node(usage, node) >= total / OWN;
}

/* Returns why it is not to be: NULL, and the home nodes, if it is. */
static const char *plan(struct evacuation *e, const struct leaving *leaving, const struct policy *policy,
			const struct usage *usage)
{
	bool places = policy_places(policy), is_home = policy->weight[leaving->node];
	uint32_t weight = places && is_home ? policy->weight[leaving->node] : 1;
	unsigned int node, nr = 0;

	memcpy(e->home, policy->weight, sizeof(e->home));
	if (policy->vnuma)
		return "virtual NUMA nodes: the guest was told where its memory is";
	if (places && !is_home)
		return NULL;
	if (places && !policy->follows_affinity && !leaving->options->force)
		return "its home nodes were named: --force changes them";
	e->homes_changed = places;
	if (!places)
		find_own(usage, e->home);
	for (node = 0; node < NODES_MAX; node++) {
		if (leaving->to[node] && !e->home[node])
			e->home[node] = weight;
		if (node == leaving->node || !leaving->nodes.memory[node])
			e->home[node] = 0;
		nr += e->home[node] != 0;
	}
	if (!nr)
		pick_targets(leaving, usage_total(usage), e->home);
	for (node = 0; node < NODES_MAX; node++)
		if (e->home[node])
			return NULL;
	return "no other node has memory and CPUs: name one with --to";
}

/* The policy stays what it is. */
static enum result set_homes(uint32_t domid, const struct policy *policy, const uint32_t home[NODES_MAX])
{
	struct request request;
	char why[256];
	unsigned int node;
	enum result result = backend_parse(policy->name, &request, why, sizeof(why));

	if (result != RESULT_OK)
		return result;
	request.max_pause_us = policy->max_pause_us;
	for (node = 0; node < NODES_MAX; node++) {
		if (!home[node])
			continue;
		request.has_nodes = request.node[node] = true;
		request.weight[request.nr_weights++] = home[node];
	}
	return backend_set(domid, &request);
}

/* Xen must not refuse it once the home nodes are others. */
static enum result ask_first(const struct evacuation *e)
{
	enum result result = backend_may_move(e->outcome.domain.id, false);

	return result == RESULT_NO_POLICY ? RESULT_OK : result;
}

/* Where the policy has no place for memory, nothing else than what is on the node moves. */
static void plan_leave(struct leave *leave, const struct evacuation *e)
{
	unsigned int node;

	*leave = (struct leave){ .node = e->node };
	for (node = 0; node < NODES_MAX; node++)
		if (e->home[node])
			leave->to[leave->nr_to++] = node;
}

static enum result go(struct evacuation *e, const struct leaving *leaving, const struct policy *policy)
{
	uint32_t domid = e->outcome.domain.id;
	enum result result = ask_first(e);
	struct leave leave;
	struct usage usage;

	if (result != RESULT_OK || leaving->options->dry_run)
		return result;
	plan_leave(&leave, e);
	if (!policy_places(policy))
		e->outcome.leave = &leave;
	else if (e->homes_changed)
		result = set_homes(domid, policy, e->home);
	if (result == RESULT_OK)
		result = move_memory(&e->outcome, leaving->options, true);
	e->outcome.leave = NULL;
	if (result != RESULT_OK)
		return result;
	result = backend_usage(domid, &usage);
	e->has_left = result == RESULT_OK;
	if (e->has_left)
		e->left = usage_of_node(&usage, leaving->node);
	return result;
}

/* Of one that was refused: its home nodes may be those of before. */
static void tell_homes(struct evacuation *e, const struct policy *before)
{
	struct policy now;

	if (backend_get(e->outcome.domain.id, &now) != RESULT_OK)
		now = *before;
	memcpy(e->home, now.weight, sizeof(e->home));
	e->homes_changed = memcmp(now.weight, before->weight, sizeof(now.weight));
}

bool evacuate_one(struct evacuation *e, const struct leaving *leaving)
{
	struct outcome *o = &e->outcome;
	struct policy policy;
	struct usage usage;
	const char *why;
	enum result result = backend_get(o->domain.id, &policy);

	if (result == RESULT_NO_FEATURE)
		check(result, "");
	if (result == RESULT_OK)
		result = backend_usage(o->domain.id, &usage);
	if (result == RESULT_NO_DOMAIN || result == RESULT_REFUSED)
		return false;
	check_domain(result, &o->domain, "ask for the memory of");
	e->node = leaving->node;
	e->was = usage_of_node(&usage, leaving->node);
	if (!e->was)
		return false;
	o->event = "result";
	o->policy = policy.name;
	o->total = usage_total(&usage);
	o->dry_run = leaving->options->dry_run;

	why = plan(e, leaving, &policy, &usage);
	if (!why) {
		result = go(e, leaving, &policy);
		if (result == RESULT_NO_DOMAIN)
			return false;
		why = result != RESULT_OK ? refusal(result) : !e->left ? NULL : o->why ? o->why :
		      o->signal ? "not all was looked at" : "it came there meanwhile";
		if (result != RESULT_OK)
			tell_homes(e, &policy);
	} else {
		memcpy(e->home, policy.weight, sizeof(e->home));
		e->homes_changed = false;
	}
	if (why)
		snprintf(e->why, sizeof(e->why), "%s", why);
	o->why = why ? e->why : NULL;
	return true;
}
