/* SPDX-License-Identifier: GPL-2.0-only */
/* show: one domain in full. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "cmd/sentences.h"
#include "print/format.h"
#include "print/watched.h"

struct node_row {
	uint32_t node, weight;
	bool home, places;
	struct share expected, share;
	uint64_t memory, pages[PAGE_SIZES], untouched;
};

#define NODE(title, key, cell, member) { title, key, cell, offsetof(struct node_row, member) }
#define PLACED(title, key, cell, member) \
	{ title, key, cell, offsetof(struct node_row, member), IF(struct node_row, places) }

static const struct field node_fields[] = {
	NODE("NODE", "node", CELL_NUMBER32, node),
	NODE("HOME", "home", CELL_BOOL, home),
	PLACED("WEIGHT", "weight", CELL_NUMBER32, weight),
	PLACED("EXPECTED", "expected_percent", CELL_SHARE, expected),
	NODE("SHARE", "share_percent", CELL_SHARE, share),
	NODE("MEMORY", "memory_bytes", CELL_BYTES, memory),
	NODE("4K-PAGES", "pages_4k", CELL_NUMBER, pages[SIZE_4K]),
	NODE("2M-PAGES", "pages_2m", CELL_NUMBER, pages[SIZE_2M]),
	NODE("1G-PAGES", "pages_1g", CELL_NUMBER, pages[SIZE_1G]),
	NODE("UNTOUCHED", "untouched_bytes", CELL_BYTES, untouched),
};

static void print_nodes(const struct facts *facts, const struct nodes *nodes)
{
	const struct policy *policy = &facts->policy;
	struct table *table = table_of_fields("nodes", node_fields, NR(node_fields));
	unsigned int node;
	uint64_t sum = 0;

	for (node = 0; node < NODES_MAX; node++)
		sum += policy->weight[node];
	for (node = 0; node < nodes->nr; node++) {
		uint64_t memory = usage_of_node(&facts->usage, node);
		struct node_row row = {
			.node = node, .weight = policy->weight[node], .home = policy->weight[node],
			.places = policy_places(policy), .expected = { policy->weight[node], sum },
			.share = { memory, facts->memory }, .memory = memory,
			.untouched = facts->stats.touches.reserve[node] * PAGE_BYTES,
		};

		if (!nodes->exists[node])
			continue;
		memcpy(row.pages, facts->usage.mappings[node], sizeof(row.pages));
		table_row(table);
		put_fields(table, node_fields, NR(node_fields), &row);
	}
	table_print(table, true);
	table_free(table);
}

/* What set takes to make another domain like this one. */
static void print_words(struct facts *facts)
{
	const struct policy *policy = &facts->policy;
	char list[LIST_TEXT];

	if (policy->vnuma)
		die("VM '%s' has virtual NUMA nodes, and thus no policy that another VM could have",
		    domain_name(&facts->domain));
	get_switches(facts);
	output_begin(FORMAT_TABLE);
	printf("%s --nodes %s", policy->name, policy->follows_affinity ? "affinity" : format_nodes(list, policy->weight));
	if (!weights_equal(policy))
		printf(" --weights %s", format_weights(list, policy->weight));
	printf(" --max-pause-us %u", policy->max_pause_us);
	/* What is not known is left as it is. */
	if (facts->has_carrefour)
		printf(" %ccarrefour", facts->carrefour ? '+' : '-');
	if (facts->automatic)
		printf(" %s", !strcmp(facts->automatic, "advise") ? "+auto=advise" :
		       !strcmp(facts->automatic, "on") ? "+auto" : "-auto");
	putchar('\n');
}

static void run(const struct options *options, int argc, char **argv)
{
	struct facts facts = { 0 };
	struct domain *domain = &facts.domain;
	const struct watched *watched;
	struct watched_row row;
	struct watching watching;
	struct nodes nodes;

	(void)argc;
	if (options->policy && options->format != FORMAT_TABLE)
		die_usage("show", "--policy prints a line for set; leave out --json and --raw");
	find_guest(argv[0], domain);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_domain(backend_get(domain->id, &facts.policy), domain,
		     "ask for the policy of");
	if (options->policy) {
		print_words(&facts);
		output_end();
		free(domain->name);
		return;
	}
	look_closely(&facts);

	carrefour_show(&watching);
	watched = carrefour_find(&watching, domain->id);
	judge_locality(&facts, watched, &nodes);
	fill_watched(&row, watched);
	output_begin(options->format);
	if (options->format == FORMAT_TABLE)
		print_sentences(&facts, watched, &nodes);
	else
		print_facts(&facts, &row);
	if (options->format == FORMAT_RAW)
		putchar('\n');
	print_nodes(&facts, &nodes);
	output_end();
	free(watching.watched);
	free(domain->name);
}

static const struct option_spec options_show[] = {
	{ "policy", .help = "only the policy, in words that set takes", OPTION(policy) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_show = {
	.name = "show",
	.arguments = "DOM",
	.summary = "one VM: policy, home nodes, pages by node and by size",
	.options = options_show,
	.help =
"EXPECTED is the share of the memory that the weights give to the node, SHARE the\n"
"share that is there. The two differ if the VM had memory before it had the policy,\n"
"if memory fell back to another node, or if the memory does not divide evenly.\n"
"--raw prints two tables with an empty line between them.\n"
"\n"
"Examples:\n"
"  xl numa-policy show guest1\n"
"  xl numa-policy show guest1 --policy\n"
"  xl numa-policy show 3 --json | jq '.nodes[] | select(.home)'\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};
