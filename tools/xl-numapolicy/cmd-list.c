/* list: every domain, a row each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "errors.h"
#include "format.h"

#define CELL_WIDTH_MIN 20	/* of the cell for all nodes in the narrow table */

/*
 * A column a node is easy to compare and to cut; where that gets too wide, one
 * cell holds all nodes with memory. JSON has an array, indexed by node.
 */
enum shape { NODE_COLUMNS, NODE_CELL, NODE_ARRAY, NO_NODES };

static size_t cell_width;

struct entry {
	struct domain domain;
	struct policy policy;
	struct usage usage;
	bool has_policy, has_usage;
};

static const struct column fixed[] = {
	{ "NAME", "name", KIND_TEXT },
	{ "ID", "id", KIND_NUMBER },
	{ "TYPE", "type", KIND_TEXT },
	{ "POLICY", "policy", KIND_TEXT },
	{ "HOME", "home_nodes", KIND_TEXT },
	{ "AT-HOME", "at_home_percent", KIND_NUMBER },
	{ "FELL-BACK", "fallback_pages", KIND_NUMBER },
	{ "MEMORY", "memory", KIND_NUMBER },
};

#define NR_FIXED (sizeof(fixed) / sizeof(*fixed))

/* False if the domain went away meanwhile. */
static bool look(struct entry *e)
{
	enum result result;

	/* Half gone: what it would answer means nothing any more. */
	if (e->domain.dying)
		return true;

	result = backend_get(e->domain.id, &e->policy);
	if (result == RESULT_NO_DOMAIN)
		return false;
	if (result != RESULT_REFUSED) {
		check_domain(result, &e->domain, "ask for the policy of");
		e->has_policy = !e->domain.pv;
	}
	if (!e->has_policy)
		return true;

	result = backend_usage(e->domain.id, &e->usage);
	if (result == RESULT_NO_DOMAIN)
		return false;
	if (result != RESULT_REFUSED) {
		check_domain(result, &e->domain, "ask for the memory of");
		e->has_usage = true;
	}
	return true;
}

static void put_node_array(struct table *table, const struct usage *usage,
			   const struct nodes *nodes)
{
	char text[NODES_MAX * 22 + 2];
	unsigned int node;
	size_t len = 0;

	for (node = 0; node < nodes->nr; node++) {
		len += snprintf(text + len, sizeof(text) - len, "%c",
				node ? ',' : '[');
		if (nodes->exists[node])
			len += snprintf(text + len, sizeof(text) - len, "%llu",
					(unsigned long long)usage_of_node(usage, node));
		else
			len += snprintf(text + len, sizeof(text) - len, "null");
	}
	snprintf(text + len, sizeof(text) - len, "]");
	put_text(table, text);
}

/* Neighbours with the same size, as interleaving makes them, are one item. */
static void put_node_cell(struct table *table, const struct usage *usage)
{
	char text[NODES_MAX * 48], item[48], size[NUMBER_TEXT], next[NUMBER_TEXT];
	unsigned int first, last;
	size_t len = 0, line = 0, add;

	for (first = 0; first < NODES_MAX; first = last + 1) {
		last = first;
		if (!usage_of_node(usage, first))
			continue;
		format_bytes(size, usage_of_node(usage, first));
		while (last + 1 < NODES_MAX &&
		       !strcmp(size, format_bytes(next, usage_of_node(usage, last + 1))))
			last++;
		if (last > first)
			add = snprintf(item, sizeof(item), "n%u-%u %s each",
				       first, last, size);
		else
			add = snprintf(item, sizeof(item), "n%u %s", first, size);

		if (len && line + 2 + add > cell_width) {
			text[len++] = '\n';
			line = 0;
		} else if (len) {
			len += sprintf(text + len, ", ");
			line += 2;
		}
		len += sprintf(text + len, "%s", item);
		line += add;
	}
	if (len)
		put_text(table, text);
	else
		put_nothing(table);
}

static void put_entry(struct table *table, const struct entry *e,
		      const struct nodes *nodes, enum shape shape)
{
	uint64_t total = usage_total(&e->usage);
	unsigned int node;

	table_row(table);
	if (e->domain.name)
		put_text(table, e->domain.name);
	else
		put_nothing(table);
	put_number(table, e->domain.id);
	put_text(table, e->domain.type);
	if (e->has_policy) {
		put_text(table, e->policy.name);
		put_nodes(table, e->policy.weight);
		put_share(table, usage_at_home(&e->usage, &e->policy), total);
		put_number(table, e->policy.fallback);
	} else {
		put_nothing(table);
		put_nothing(table);
		put_nothing(table);
		put_nothing(table);
	}

	if (!e->has_usage) {
		put_nothing(table);
		if (shape == NODE_ARRAY || shape == NODE_CELL)
			put_nothing(table);
		for (node = 0; shape == NODE_COLUMNS && node < nodes->nr; node++)
			if (nodes->exists[node])
				put_nothing(table);
		return;
	}
	put_bytes(table, total);
	if (shape == NODE_ARRAY)
		put_node_array(table, &e->usage, nodes);
	else if (shape == NODE_CELL)
		put_node_cell(table, &e->usage);
	for (node = 0; shape == NODE_COLUMNS && node < nodes->nr; node++)
		if (nodes->exists[node])
			put_bytes(table, usage_of_node(&e->usage, node));
}

static struct table *make_table(const struct entry *entries, unsigned int nr,
				const struct nodes *nodes, enum shape shape)
{
	static const struct column cell = { "BY NODE", "", KIND_LINES };
	static const struct column array = {
		"", "memory_by_node", KIND_NUMBER
	};
	struct column columns[NR_FIXED + NODES_MAX];
	char title[NODES_MAX][12], key[NODES_MAX][12];
	unsigned int i, n = NR_FIXED, node;
	struct table *table;

	memcpy(columns, fixed, sizeof(fixed));
	if (shape == NODE_ARRAY) {
		columns[4].kind = KIND_NUMBER;	/* home nodes: an array, too */
		columns[n++] = array;
	} else if (shape == NODE_CELL) {
		columns[n++] = cell;
	}
	for (node = 0; shape == NODE_COLUMNS && node < nodes->nr; node++) {
		if (!nodes->exists[node])
			continue;
		snprintf(title[node], sizeof(title[node]), "N%u", node);
		snprintf(key[node], sizeof(key[node]), "n%u", node);
		columns[n++] = (struct column){ title[node], key[node], KIND_NUMBER };
	}

	table = table_new("domains", columns, n);
	for (i = 0; i < nr; i++)
		put_entry(table, &entries[i], nodes, shape);
	return table;
}

static void run(const struct options *options, int argc, char **argv)
{
	enum shape shape = options->format == FORMAT_JSON ? NODE_ARRAY :
			   NODE_COLUMNS;
	struct domain *domains;
	struct entry *entries;
	struct nodes nodes;
	unsigned int i, nr, shown = 0;
	struct table *table;

	(void)argc;
	(void)argv;
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check(backend_domains(&domains, &nr), "list the domains");
	entries = check_alloc(calloc(nr + 1, sizeof(*entries)));
	for (i = 0; i < nr; i++) {
		struct entry *e = &entries[shown];

		*e = (struct entry){ .domain = domains[i] };
		if (look(e))
			shown++;
		else
			free(e->domain.name);
	}
	free(domains);

	output_begin(options->format);
	table = make_table(entries, shown, &nodes, shape);
	if (options->format == FORMAT_TABLE &&
	    table_width(table) > screen_width()) {
		table_free(table);
		table = make_table(entries, shown, &nodes, NO_NODES);
		cell_width = CELL_WIDTH_MIN;
		if (table_width(table) + 1 + CELL_WIDTH_MIN < screen_width())
			cell_width = screen_width() - table_width(table) - 1;
		table_free(table);
		table = make_table(entries, shown, &nodes, NODE_CELL);
	}
	table_print(table, true);
	table_free(table);
	output_end();

	for (i = 0; i < shown; i++)
		free(entries[i].domain.name);
	free(entries);
}

const struct command cmd_list = {
	.name = "list",
	.arguments = "",
	.summary = "all domains: policy, and on which nodes their memory is",
	.help =
"HOME are the home nodes, AT-HOME is the share of the memory that is on them,\n"
"FELL-BACK counts the 4 KiB pages that the policy wanted on a node that was full.\n"
"PV domains, dom0 for one, have no policy and show \"-\".\n"
"\n"
"Examples:\n"
"  xl numa-policy list\n"
"  xl numa-policy list --raw | awk '$4 == \"round-4k\" { print $1 }'\n"
"  xl numa-policy list --json | jq '.domains[] | {name, memory_by_node}'\n",
	.run = run,
};
