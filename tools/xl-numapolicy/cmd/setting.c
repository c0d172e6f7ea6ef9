/* SPDX-License-Identifier: GPL-2.0-only */
/* What set asks for, and whether it can be had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "ask/spec.h"
#include "base/errors.h"
#include "cmd/guest.h"
#include "cmd/setting.h"
#include "print/format.h"

static bool wants_affinity(const struct options *options)
{
	return options->nodes && !strcmp(options->nodes, "affinity");
}

/* POLICY and the options that belong to it as one spec in the words of xl.cfg. */
static char *make_spec(const char *policy, const struct options *options)
{
	const char *nodes = wants_affinity(options) ? NULL : options->nodes;
	char *spec;

	if (options->nodes && strstr(policy, "nodes="))
		die_usage("set", "home nodes given twice, in '%s' and with --nodes",
			  policy);
	if (options->weights && strstr(policy, "weights="))
		die_usage("set", "weights given twice, in '%s' and with --weights",
			  policy);
	if (options->max_pause_us && strstr(policy, "max-pause-us="))
		die_usage("set", "limit given twice, in '%s' and with --max-pause-us",
			  policy);
	if (asprintf(&spec, "%s%s%s%s%s%s%s", policy,
		     nodes ? ",nodes=" : "",
		     nodes ? nodes : "",
		     options->weights ? ",weights=" : "",
		     options->weights ? options->weights : "",
		     options->max_pause_us ? ",max-pause-us=" : "",
		     options->max_pause_us ? options->max_pause_us : "") < 0)
		die("out of memory");
	return spec;
}

static void check_policy_name(const char *spec)
{
	char known[256] = "";
	size_t length = strcspn(spec, ","), used = 0;
	const char *name;
	unsigned int i;

	for (i = 0; (name = backend_policy_name(i)); i++) {
		if (strlen(name) == length && !strncmp(name, spec, length))
			return;
		used += snprintf(known + used, sizeof(known) - used, "%s%s",
				 used ? ", " : "", name);
		if (used >= sizeof(known))
			break;
	}
	if (!strcmp(spec, "carrefour") || !strcmp(spec, "auto") || !strcmp(spec, "auto=advise"))
		die("'%s' is no policy; '+%s' leaves the policy as it is", spec, spec);
	if (!strcmp(spec, "auto=off"))
		die("'auto=off' is no policy; '-auto' leaves the policy as it is");
	if (length == strlen("default") && !strncmp(spec, "default", length))
		die("'default' is for new VMs only; there are %s", known);
	die("no policy '%.*s'; there are %s", (int)length, spec, known);
}

/* A switch that the setting has, too, may not say the opposite. */
static unsigned int one_switch(const char *spec, const char *name, unsigned int in_spec, unsigned int given)
{
	if (in_spec && given && in_spec != given)
		die_usage("set", "'%s' switches %s one way, another word of the command line the other way; give one of them",
			  spec, name);
	return given ? given : in_spec;
}

void read_setting(const char *policy, const struct options *options, struct request *request)
{
	char *spec = make_spec(policy, options), why[512];
	enum result result;

	check_policy_name(spec);
	result = backend_parse(spec, request, why, sizeof(why));
	if (result == RESULT_REFUSED)
		die("no policy setting '%s': %s", spec, why);
	check(result, "read the policy");
	request->dynamic.carrefour = one_switch(policy, "Carrefour", request->dynamic.carrefour, options->dynamic.carrefour);
	request->dynamic.automatic = one_switch(policy, "auto", request->dynamic.automatic, options->dynamic.automatic);
	if (options->rebalance && !strncmp(spec, "none", strcspn(spec, ",")))
		die("policy none has no place for memory; leave out --rebalance, "
		    "or give another policy");
	request->has_pause = options->max_pause_us || strstr(policy, "max-pause-us=");
	free(spec);
}

struct kept keep_rest(const struct options *options, const struct policy *before, struct request *request)
{
	bool names_nodes = options->nodes || request->has_nodes;
	struct kept kept = { 0 };
	unsigned int node;

	kept.nodes = !names_nodes && !before->follows_affinity;
	/* Those of other nodes would be other weights. */
	kept.weights = !names_nodes && !request->nr_weights && !weights_equal(before);
	kept.max_pause_us = !request->has_pause && before->max_pause_us;
	for (node = 0; node < NODES_MAX; node++) {
		if (kept.nodes)
			request->node[node] = before->weight[node];
		if (kept.weights && before->weight[node])
			request->weight[request->nr_weights++] = before->weight[node];
	}
	request->has_nodes |= kept.nodes;
	if (kept.max_pause_us)
		request->max_pause_us = before->max_pause_us;
	return kept;
}

static void check_nodes(const struct request *request, const struct nodes *nodes)
{
	uint32_t exists[NODES_MAX], memory[NODES_MAX];
	char list[LIST_TEXT];
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++) {
		exists[node] = nodes->exists[node];
		memory[node] = nodes->memory[node];
	}
	for (node = 0; node < NODES_MAX; node++) {
		if (request->node[node] && !exists[node])
			die("no node %u; this machine has %s", node,
			    format_nodes(list, exists));
		if (request->node[node] && !memory[node])
			die("node %u has no memory; of this machine's nodes, %s have",
			    node, format_nodes(list, memory));
	}
}

bool find_homes(const struct request *request, const struct policy *before, const struct domain *domain, bool home[NODES_MAX])
{
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		home[node] = request->has_nodes ? request->node[node] : before->weight[node];
	if (request->has_nodes || before->follows_affinity)
		return true;
	check_domain(backend_affinity(domain->id, home), domain, "ask for the node affinity of");
	return false;
}

/* The number of weights must be that of the home nodes, whoever names those. */
static void check_weights(const struct request *request, const bool home[NODES_MAX], const struct nodes *nodes)
{
	uint32_t weight[NODES_MAX] = { 0 };
	char list[LIST_TEXT];
	unsigned int node, nr = 0;

	if (!request->nr_weights)
		return;
	for (node = 0; node < nodes->nr; node++) {
		if (!home[node] || !nodes->memory[node])
			continue;
		weight[node] = 1;
		nr++;
	}
	if (nr != request->nr_weights)
		die("%u weight%s for %u home node%s (%s); give one a node",
		    request->nr_weights, request->nr_weights == 1 ? "" : "s",
		    nr, nr == 1 ? "" : "s", format_nodes(list, weight));
}

void check_setting(const struct request *request, const bool *home, const struct nodes *nodes)
{
	check_nodes(request, nodes);
	if (home)
		check_weights(request, home, nodes);
}

void print_policies(void)
{
	static const struct {
		const char *name, *meaning;
	} text[] = {
		{ "none", "wherever Xen finds room, as without this feature" },
		{ "round-4k", "the home nodes in turn, by 4 KiB" },
		{ "round-2m", "the home nodes in turn, by 2 MiB" },
		{ "round-1g", "the home nodes in turn, by 1 GiB" },
		{ "first-touch", "the node of the vCPU that touches a page first" },
	};
	const char *name;
	unsigned int i, j;

	printf("\nPolicies:\n");
	for (i = 0; (name = backend_policy_name(i)); i++) {
		const char *meaning = "";

		for (j = 0; j < NR(text); j++)
			if (!strcmp(name, text[j].name))
				meaning = text[j].meaning;
		printf("  %-12s %s\n", name, meaning);
	}
}
