/* SPDX-License-Identifier: GPL-2.0-only */
/* show: one domain in full. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/format.h"
#include "print/watched.h"

/* A sentence a line: there is only one domain. */
static void print_pauses(const struct policy *policy, const struct move_stats *stats)
{
	printf("writes      stopped for %.3f ms at the longest, ", stats->pause_ns / 1e6);
	if (policy->max_pause_us)
		printf("limit %.3f ms, exceeded %" PRIu64 " times", policy->max_pause_us / 1e3,
		       stats->exceeded);
	else
		printf("no limit");
	printf("; %" PRIu64 " pages copied again\n", stats->copied_again);
}

static void print_moves(const struct move_stats *stats)
{
	const struct moves *pages = &stats->pages;

	printf("moved       %" PRIu64 " pages of 4 KiB, in %" PRIu64 " batches with %" PRIu64
	       " rounds of TLB flushes\n", pages->moved, stats->batches,
	       stats->flush_rounds);
	printf("not moved   %" PRIu64 " pages in use, %" PRIu64 " not movable, %" PRIu64
	       " as the node was full, %" PRIu64 " for the limit\n", pages->in_use,
	       pages->unmovable, pages->no_room, pages->late);
	printf("locked      %.3f ms in all, %.3f ms at the longest\n",
	       stats->locked_ns / 1e6, stats->longest_ns / 1e6);
}

static void print_touches(const struct touch_stats *stats)
{
	printf("untouched   %" PRIu64 " pages of 4 KiB\n", stats->untouched);
	printf("touches     %" PRIu64 " mapped 4 KiB, %" PRIu64 " mapped 2 MiB; %" PRIu64
	       " were of others than its vCPUs\n", stats->small, stats->large,
	       stats->by_others);
	printf("exchanged   %" PRIu64 " pages of 4 KiB with the heap of a node\n",
	       stats->exchanged);
	printf("released    %" PRIu64 " pages of 4 KiB, with %" PRIu64
	       " rounds of TLB flushes\n", stats->released, stats->flush_rounds);
	printf("kept        %" PRIu64 " pages in use, %" PRIu64 " not plain memory, %" PRIu64
	       " not there, %" PRIu64 " without room for a page table\n",
	       stats->in_use, stats->unfit, stats->absent, stats->no_table);
	printf("events      %" PRIu64 " of the guest, %" PRIu64 " of them invalid\n",
	       stats->events, stats->invalid);
}

/* Only of interest where there was ever such a page. */
static bool has_touches(const struct touch_stats *stats)
{
	return stats->untouched || stats->small || stats->large || stats->events;
}

static void print_text(const struct facts *facts, const struct watched *watched)
{
	const struct domain *domain = &facts->domain;
	const struct policy *policy = &facts->policy;
	const struct stats *stats = &facts->stats;
	char list[LIST_TEXT], share[NUMBER_TEXT], size[NUMBER_TEXT];

	printf("domain      %s (id %u, %s)\n", domain->name ? domain_name(domain) : "-",
	       domain->id, domain->type);
	printf("policy      %s%s\n", policy->name, policy->vnuma ? " (the guest has been told where its memory is)" : "");
	if (*format_nodes(list, policy->weight))
		printf("home nodes  %s (%s)\n", list, policy->follows_affinity ?
		       "follow the node affinity" : "set with the policy");
	if (policy_places(policy))
		printf("weights     %s\n", weights_equal(policy) ? "equal" :
		       format_weights(list, policy->weight));
	printf("memory      %s, %s%% of it on home nodes\n",
	       format_bytes(size, facts->memory),
	       format_share(share, facts->at_home.part, facts->memory));
	printf("placed      %" PRIu64 " pages of 4 KiB, where the policy wants them\n",
	       policy->placed);
	printf("fell back   %" PRIu64 " pages of 4 KiB, as that node was full\n",
	       policy->fallback);
	print_moves(&stats->moves);
	print_pauses(policy, &stats->moves);
	if (has_touches(&stats->touches))
		print_touches(&stats->touches);
	printf("carrefour   %s, auto %s%s%s\n", !facts->has_carrefour ? "unknown" : facts->carrefour ? "on" : "off",
	       facts->automatic ? facts->automatic : "unknown", watched && *watched->class ? ": " : "",
	       watched ? watched->class : "");
	print_watched(watched);
	putchar('\n');
}

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

static void run(const struct options *options, int argc, char **argv)
{
	struct facts facts = { 0 };
	struct domain *domain = &facts.domain;
	const struct watched *watched;
	struct watched_row row;
	struct watching watching;
	struct nodes nodes;

	(void)argc;
	find_guest(argv[0], domain);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_domain(backend_get(domain->id, &facts.policy), domain,
		     "ask for the policy of");
	check_domain(backend_usage(domain->id, &facts.usage), domain,
		     "ask for the memory of");
	check_domain(backend_stats(domain->id, &facts.stats), domain,
		     "ask for the statistics of");
	get_switches(&facts);
	complete_facts(&facts);

	carrefour_show(&watching);
	watched = carrefour_find(&watching, domain->id);
	fill_watched(&row, watched);
	output_begin(options->format);
	if (options->format == FORMAT_TABLE)
		print_text(&facts, watched);
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
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_show = {
	.name = "show",
	.arguments = "DOM",
	.summary = "one domain: policy, home nodes, pages by node and by size",
	.options = options_show,
	.help =
"EXPECTED is the share of the memory that the weights give to the node, SHARE what\n"
"it has. The two differ where memory was there before the policy, fell back, or\n"
"does not divide evenly. --raw prints two tables with an empty line between them.\n"
"\n"
"Examples:\n"
"  xl numa-policy show guest1\n"
"  xl numa-policy show 3 --json | jq '.nodes[] | select(.home)'\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};
