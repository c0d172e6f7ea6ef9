/* SPDX-License-Identifier: GPL-2.0-only */
/* set: give a running domain another policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/carrefour.h"
#include "ask/check.h"
#include "ask/spec.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/format.h"

/* POLICY and the options that belong to it as one spec in the words of xl.cfg. */
static char *make_spec(const char *policy, const struct options *options)
{
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
		     options->nodes ? ",nodes=" : "",
		     options->nodes ? options->nodes : "",
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
	if (length == strlen("default") && !strncmp(spec, "default", length))
		die("'default' is for new domains only; there are %s", known);
	die("no policy '%.*s'; there are %s", (int)length, spec, known);
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

/* The number of weights must be that of the home nodes, whoever names those. */
static void check_weights(const struct request *request,
			  const struct domain *domain, const struct nodes *nodes)
{
	bool affinity[NODES_MAX];
	const bool *home = request->node;
	uint32_t weight[NODES_MAX] = { 0 };
	char list[LIST_TEXT];
	unsigned int node, nr = 0;

	if (!request->nr_weights)
		return;
	if (!request->has_nodes) {
		check_domain(backend_affinity(domain->id, affinity), domain,
			     "ask for the node affinity of");
		home = affinity;
	}
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

static void print_homes(const struct policy *policy)
{
	char list[LIST_TEXT];

	format_nodes(list, policy->weight);
	printf(" on home node%s %s", list[strspn(list, "0123456789")] ? "s" : "", list);
	if (!weights_equal(policy))
		printf(", weights %s", format_weights(list, policy->weight));
}

static void print_now(const struct domain *domain, const struct policy *before,
		      const struct policy *now)
{
	printf("%s (id %u): %s", domain->name ? domain->name : "-", domain->id,
	       now->name);
	if (policy_places(now))
		print_homes(now);
	if (now->max_pause_us)
		printf(", max-pause-us %u", now->max_pause_us);
	if (policy_same(before, now) && before->max_pause_us == now->max_pause_us)
		printf(", as before");
}

/* Whether a page may be elsewhere than the policy would put it, without a look. */
static bool may_be_elsewhere(const struct policy *before, const struct policy *now,
			     const struct usage *usage)
{
	unsigned int node, homes = 0;

	for (node = 0; node < NODES_MAX; node++)
		homes += now->weight[node] != 0;
	return usage_at_home(usage, now) < usage_total(usage) ||
	       (homes > 1 && usage_total(usage) && !policy_same(before, now));
}

static void print_memory(const struct domain *domain, const struct policy *before,
			 const struct policy *now, const struct usage *usage)
{
	char size[NUMBER_TEXT], share[NUMBER_TEXT];
	uint64_t total = usage_total(usage);

	if (total && !policy_same(before, now)) {
		printf("; the %s it already has stays where it is",
		       format_bytes(size, total));
		if (policy_places(now))
			printf(", %s%% of it on home nodes",
			       format_share(share, usage_at_home(usage, now), total));
	}
	putchar('\n');
	if (policy_places(now) && may_be_elsewhere(before, now, usage))
		printf("'xl numa-policy rebalance %s' moves it to where the policy wants "
		       "it, while the domain runs\n", domain_name(domain));
}

/* What holds; and the memory stays. */
static void print(enum format format, struct facts *facts, const struct policy *before)
{
	check_domain(backend_usage(facts->domain.id, &facts->usage), &facts->domain,
		     "ask for the memory of");
	check_domain(backend_stats(facts->domain.id, &facts->stats), &facts->domain,
		     "ask for the statistics of");
	complete_facts(facts);
	output_begin(format);
	if (format == FORMAT_TABLE) {
		print_now(&facts->domain, before, &facts->policy);
		print_memory(&facts->domain, before, &facts->policy, &facts->usage);
	} else {
		print_facts(facts);
	}
	output_end();
}

/* Says what is switched; whether something comes of it is for carrefourd to say. */
static void print_dynamic(const struct domain *domain, const struct dynamic *dynamic)
{
	static const char *const words[] = { "", "off", "on", "advises only" };
	bool on = dynamic->carrefour >= SWITCH_ON || dynamic->automatic >= SWITCH_ON;
	struct watching watching = { 0 };

	printf("%s (id %u):", domain->name ? domain->name : "-", domain->id);
	if (dynamic->carrefour)
		printf(" carrefour %s", words[dynamic->carrefour]);
	if (dynamic->automatic)
		printf("%s auto %s", dynamic->carrefour ? "," : "", words[dynamic->automatic]);
	putchar('\n');
	if (on && !carrefour_show(&watching) && !watching.silent)
		printf("but carrefourd does not run: nothing comes of it before 'systemctl start carrefourd'\n");
	free(watching.watched);
}

static void switch_only(const struct options *options, const char *which)
{
	struct facts facts = { 0 };
	struct domain *domain = &facts.domain;

	if (options->nodes || options->weights || options->max_pause_us || options->rebalance)
		die_usage("set", "--%s needs a policy", options->nodes ? "nodes" : options->weights ? "weights" :
			  options->max_pause_us ? "max-pause-us" : "rebalance");
	find_guest(which, domain);
	check_domain(backend_set_dynamic(domain->id, &options->dynamic), domain, "switch carrefour or auto of");
	if (options->format == FORMAT_TABLE) {
		output_begin(options->format);
		print_dynamic(domain, &options->dynamic);
		output_end();
	} else {
		check_domain(backend_get(domain->id, &facts.policy), domain, "ask for the policy of");
		print(options->format, &facts, &facts.policy);
	}
	free(domain->name);
}

static void run(const struct options *options, int argc, char **argv)
{
	const struct dynamic *dynamic = &options->dynamic;
	struct facts facts = { 0 };
	struct domain *domain = &facts.domain;
	struct policy before;
	struct request request;
	struct nodes nodes;
	enum result result;
	char *spec, why[512];

	if (argc == 1 && !dynamic->carrefour && !dynamic->automatic)
		die_usage("set", "an argument is missing; it takes %s", cmd_set.arguments);
	if (argc == 1) {
		switch_only(options, argv[0]);
		return;
	}
	spec = make_spec(argv[1], options);
	check_policy_name(spec);
	result = backend_parse(spec, &request, why, sizeof(why));
	if (result == RESULT_REFUSED)
		die("no policy setting '%s': %s", spec, why);
	check(result, "read the policy");
	if (dynamic->carrefour)
		request.dynamic.carrefour = dynamic->carrefour;
	if (dynamic->automatic)
		request.dynamic.automatic = dynamic->automatic;
	if (options->rebalance && !strncmp(spec, "none", strcspn(spec, ",")))
		die("policy none has no place for memory; leave out --rebalance, "
		    "or give another policy");

	find_guest(argv[0], domain);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_nodes(&request, &nodes);
	check_weights(&request, domain, &nodes);
	if (options->rebalance)
		check_movable(domain);

	check_domain(backend_get(domain->id, &before), domain,
		     "ask for the policy of");
	check_domain(backend_set(domain->id, &request), domain,
		     "set the policy of");
	/* Say what holds, not what was asked for. */
	check_domain(backend_get(domain->id, &facts.policy), domain,
		     "ask for the policy of");

	if (!options->rebalance) {
		print(options->format, &facts, &before);
	} else {
		/* Programs get what rebalance prints, and nothing before it. */
		if (options->format == FORMAT_TABLE) {
			print_now(domain, &before, &facts.policy);
			putchar('\n');
			output_check();
		}
		rebalance(options, domain);
	}
	free(domain->name);
	free(spec);
}

static void print_policies(void)
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

static const struct option_spec options_set[] = {
	{ "nodes", 0, "LIST", "home nodes, like 0-3,^1", OPTION_TEXT, OPTION(nodes) },
	{ "weights", 0, "W:W...", "a weight of 1 to 255 for each home node,\nlowest node first",
	  OPTION_TEXT, OPTION(weights) },
	{ "max-pause-us", 0, "N", "when memory moves, keep no writer longer", OPTION_TEXT, OPTION(max_pause_us) },
	{ "rebalance", .help = "move the memory that it has, too", OPTION(rebalance) },
	{ "max-mb-per-s", 0, "N", "move no more than N MiB a second", RIGHT_RATE, OPTION(max_mb_per_s), .needs = "rebalance" },
	{ "quiet", 'q', .help = "show no progress", OPTION(quiet), .needs = "rebalance" },
	OPTIONS_OF_OUTPUT,
	{ "+carrefour", .help = "carrefourd moves pages to the node that accesses them",
	  .kind = OPTION_SWITCH, OPTION(dynamic.carrefour), .value = SWITCH_ON },
	{ "-carrefour", .help = "it does not", .kind = OPTION_SWITCH, OPTION(dynamic.carrefour), .value = SWITCH_OFF },
	{ "+auto", .help = "carrefourd chooses the policy, and whether Carrefour",
	  .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_ON },
	{ "+auto=advise", .help = "it only says what it would choose",
	  .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_ADVISE },
	{ "-auto", .help = "it does neither", .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_OFF },
	{ NULL }
};

const struct command cmd_set = {
	.name = "set",
	.arguments = "DOM [POLICY] [SWITCH]...",
	.summary = "give a running domain another policy, switch Carrefour",
	.options = options_set,
	.print_words = print_policies,
	.help =
"POLICY may also be a whole setting in the words of xl.cfg, see the last example.\n"
"Without --nodes the home nodes are those of the domain's node affinity. Without\n"
"--weights every home node gets the same, without --max-pause-us the guest waits\n"
"as long as it takes when it writes to memory that is being moved. The policy\n"
"holds for memory that the domain gets from now on, and for its next start; what\n"
"it has stays where it is, or is moved while the domain runs, with --rebalance.\n"
"That is also the way to evacuate a node: leave it out of the home nodes, as in\n"
"the third example.\n"
"\n"
"SWITCH is +carrefour or -carrefour, +auto, +auto=advise or -auto. With the\n"
"first, carrefourd moves pages to who accesses them; with auto it chooses policy\n"
"and Carrefour, or only says what it would choose. Without POLICY the policy\n"
"stays as it is.\n"
"\n"
"Examples:\n"
"  xl numa-policy set guest1 round-2m\n"
"  xl numa-policy set guest1 round-4k --nodes 0-3,^1 --weights 2:1:1\n"
"  xl numa-policy set guest1 round-2m --nodes 0-3,^2 --rebalance\n"
"  xl numa-policy set 3 round-1g,nodes=0-1,weights=3:1\n"
"  xl numa-policy set guest1 round-4k --max-pause-us 200 --rebalance\n"
"  xl numa-policy set guest1 first-touch +carrefour\n"
"  xl numa-policy set guest1 -carrefour\n",
	.min_arguments = 1,
	.max_arguments = 2,
	.run = run,
};
