/* show: one domain in full. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "errors.h"
#include "format.h"
#include "watched.h"

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

/* The same for programs. No row in JSON, no table in RAW, where there is nothing to tell. */
static void print_watched_row(enum format format, const struct watched *w)
{
	static const struct column columns[] = { WATCHED_COLUMNS };
	struct table *table;

	if (!w && format != FORMAT_JSON)
		return;
	if (format == FORMAT_RAW)
		putchar('\n');
	table = table_new("carrefour", columns, sizeof(columns) / sizeof(*columns));
	if (w) {
		table_row(table);
		put_watched(table, w);
	}
	table_print(table, true);
	table_free(table);
}

/* Only of interest where there was ever such a page. */
static bool has_touches(const struct touch_stats *stats)
{
	return stats->untouched || stats->small || stats->large || stats->events;
}

static void print_text(const struct domain *domain, const struct policy *policy,
		       const struct usage *usage, const struct stats *stats,
		       const struct watched *watched)
{
	char list[LIST_TEXT], share[NUMBER_TEXT], size[NUMBER_TEXT];
	uint64_t total = usage_total(usage);

	printf("domain      %s (id %u, %s)\n", domain->name ? domain->name : "-",
	       domain->id, domain->type);
	printf("policy      %s%s\n", policy->name, policy->vnuma ? " (the guest has been told where its memory is)" : "");
	if (*format_nodes(list, policy->weight))
		printf("home nodes  %s (%s)\n", list, policy->follows_affinity ?
		       "follow the node affinity" : "set with the policy");
	if (policy_places(policy))
		printf("weights     %s\n", weights_equal(policy) ? "equal" :
		       format_weights(list, policy->weight));
	printf("memory      %s, %s%% of it on home nodes\n",
	       format_bytes(size, total),
	       format_share(share, usage_at_home(usage, policy), total));
	printf("placed      %" PRIu64 " pages of 4 KiB, where the policy wants them\n",
	       policy->placed);
	printf("fell back   %" PRIu64 " pages of 4 KiB, as that node was full\n",
	       policy->fallback);
	print_moves(&stats->moves);
	print_pauses(policy, &stats->moves);
	if (has_touches(&stats->touches))
		print_touches(&stats->touches);
	print_watched(watched);
	putchar('\n');
}

void print_domain_row(const struct domain *domain, const struct policy *policy,
		      const struct usage *usage, const struct stats *stats)
{
	/* Lists are arrays in JSON, which KIND_NUMBER does not quote. */
	static const struct column columns[] = {
		{ "NAME", "name", KIND_TEXT },
		{ "ID", "id", KIND_NUMBER },
		{ "TYPE", "type", KIND_TEXT },
		{ "POLICY", "policy", KIND_TEXT },
		{ "HOME", "home_nodes", KIND_NUMBER },
		{ "WEIGHTS", "weights", KIND_NUMBER },
		{ "FOLLOWS", "follows_affinity", KIND_BOOL },
		{ "MAX-PAUSE", "max_pause_us", KIND_NUMBER },
		{ "AT-HOME", "at_home_percent", KIND_NUMBER },
		{ "PLACED", "placed_pages", KIND_NUMBER },
		{ "FELL-BACK", "fallback_pages", KIND_NUMBER },
		{ "MEMORY", "memory", KIND_NUMBER },
		{ "MOVED", "moved_pages", KIND_NUMBER },
		{ "IN-USE", "in_use_pages", KIND_NUMBER },
		{ "UNMOVABLE", "unmovable_pages", KIND_NUMBER },
		{ "NO-ROOM", "no_room_pages", KIND_NUMBER },
		{ "LATE", "late_pages", KIND_NUMBER },
		{ "BATCHES", "move_batches", KIND_NUMBER },
		{ "FLUSHES", "flush_rounds", KIND_NUMBER },
		{ "LOCKED", "locked_ns", KIND_NUMBER },
		{ "LONGEST", "longest_locked_ns", KIND_NUMBER },
		{ "PAUSE", "longest_pause_ns", KIND_NUMBER },
		{ "EXCEEDED", "pauses_exceeded", KIND_NUMBER },
		{ "AGAIN", "copied_again_pages", KIND_NUMBER },
		{ "UNTOUCHED", "untouched_pages", KIND_NUMBER },
		{ "TOUCHES-4K", "touches_4k", KIND_NUMBER },
		{ "TOUCHES-2M", "touches_2m", KIND_NUMBER },
		{ "BY-OTHERS", "touches_by_others", KIND_NUMBER },
		{ "EXCHANGED", "exchanged_pages", KIND_NUMBER },
		{ "RELEASED", "released_pages", KIND_NUMBER },
		{ "REL-FLUSHES", "release_flush_rounds", KIND_NUMBER },
		{ "REL-IN-USE", "release_in_use_pages", KIND_NUMBER },
		{ "REL-UNFIT", "release_unfit_pages", KIND_NUMBER },
		{ "REL-ABSENT", "release_absent_pages", KIND_NUMBER },
		{ "REL-NO-TABLE", "release_no_table_pages", KIND_NUMBER },
		{ "EVENTS", "page_events", KIND_NUMBER },
		{ "INVALID", "invalid_page_events", KIND_NUMBER },
	};
	const struct move_stats *moves = &stats->moves;
	const struct touch_stats *touches = &stats->touches;
	struct table *table;
	uint64_t total = usage_total(usage);

	table = table_new("domain", columns, sizeof(columns) / sizeof(*columns));
	table_row(table);
	if (domain->name)
		put_text(table, domain->name);
	else
		put_nothing(table);
	put_number(table, domain->id);
	put_text(table, domain->type);
	put_text(table, policy->name);
	put_nodes(table, policy->weight);
	put_weights(table, policy->weight);
	put_bool(table, policy->follows_affinity);
	put_number(table, policy->max_pause_us);
	put_share(table, usage_at_home(usage, policy), total);
	put_number(table, policy->placed);
	put_number(table, policy->fallback);
	put_bytes(table, total);
	put_number(table, moves->pages.moved);
	put_number(table, moves->pages.in_use);
	put_number(table, moves->pages.unmovable);
	put_number(table, moves->pages.no_room);
	put_number(table, moves->pages.late);
	put_number(table, moves->batches);
	put_number(table, moves->flush_rounds);
	put_number(table, moves->locked_ns);
	put_number(table, moves->longest_ns);
	put_number(table, moves->pause_ns);
	put_number(table, moves->exceeded);
	put_number(table, moves->copied_again);
	put_number(table, touches->untouched);
	put_number(table, touches->small);
	put_number(table, touches->large);
	put_number(table, touches->by_others);
	put_number(table, touches->exchanged);
	put_number(table, touches->released);
	put_number(table, touches->flush_rounds);
	put_number(table, touches->in_use);
	put_number(table, touches->unfit);
	put_number(table, touches->absent);
	put_number(table, touches->no_table);
	put_number(table, touches->events);
	put_number(table, touches->invalid);
	table_print(table, true);
	table_free(table);
}

static void print_nodes(const struct policy *policy, const struct usage *usage,
			const struct touch_stats *touches, const struct nodes *nodes)
{
	static const struct column columns[] = {
		{ "NODE", "node", KIND_NUMBER },
		{ "HOME", "home", KIND_BOOL },
		{ "WEIGHT", "weight", KIND_NUMBER },
		{ "EXPECTED", "expected_percent", KIND_NUMBER },
		{ "SHARE", "share_percent", KIND_NUMBER },
		{ "MEMORY", "memory", KIND_NUMBER },
		{ "4K-PAGES", "pages_4k", KIND_NUMBER },
		{ "2M-PAGES", "pages_2m", KIND_NUMBER },
		{ "1G-PAGES", "pages_1g", KIND_NUMBER },
		{ "UNTOUCHED", "untouched", KIND_NUMBER },
	};
	uint64_t sum = 0, total = usage_total(usage);
	struct table *table;
	unsigned int node, size;

	for (node = 0; node < NODES_MAX; node++)
		sum += policy->weight[node];

	table = table_new("nodes", columns, sizeof(columns) / sizeof(*columns));
	for (node = 0; node < nodes->nr; node++) {
		if (!nodes->exists[node])
			continue;
		table_row(table);
		put_number(table, node);
		put_bool(table, policy->weight[node]);
		if (policy_places(policy)) {
			put_number(table, policy->weight[node]);
			put_share(table, policy->weight[node], sum);
		} else {
			put_nothing(table);
			put_nothing(table);
		}
		put_share(table, usage_of_node(usage, node), total);
		put_bytes(table, usage_of_node(usage, node));
		for (size = 0; size < PAGE_SIZES; size++)
			put_number(table, usage->mappings[node][size]);
		put_bytes(table, touches->reserve[node] * PAGE_BYTES);
	}
	table_print(table, true);
	table_free(table);
}

static void run(const struct options *options, int argc, char **argv)
{
	struct domain domain = { 0 };
	const struct watched *watched;
	struct watching watching;
	struct stats stats;
	struct policy policy;
	struct usage usage;
	struct nodes nodes;

	(void)argc;
	find_guest(argv[0], &domain);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_domain(backend_get(domain.id, &policy), &domain,
		     "ask for the policy of");
	check_domain(backend_usage(domain.id, &usage), &domain,
		     "ask for the memory of");
	check_domain(backend_stats(domain.id, &stats), &domain,
		     "ask for the statistics of");

	carrefour_show(&watching);
	watched = carrefour_find(&watching, domain.id);
	output_begin(options->format);
	if (options->format == FORMAT_TABLE)
		print_text(&domain, &policy, &usage, &stats, watched);
	else
		print_domain_row(&domain, &policy, &usage, &stats);
	if (options->format == FORMAT_RAW)
		putchar('\n');
	print_nodes(&policy, &usage, &stats.touches, &nodes);
	if (options->format != FORMAT_TABLE)
		print_watched_row(options->format, watched);
	output_end();
	free(watching.watched);
	free(domain.name);
}

const struct command cmd_show = {
	.name = "show",
	.arguments = "DOM",
	.summary = "one domain: policy, home nodes, pages by node and by size",
	.help =
"EXPECTED is the share of the memory that the weights give to the node, SHARE what\n"
"it has. The two differ where memory was there before the policy, fell back, or\n"
"does not divide evenly. --raw prints two tables with an empty line between them,\n"
"and a third, of what carrefourd sees and does, if it watches the domain.\n"
"\n"
"Examples:\n"
"  xl numa-policy show guest1\n"
"  xl numa-policy show 3 --json | jq '.nodes[] | select(.home)'\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};
