/* SPDX-License-Identifier: GPL-2.0-only */
/* list: every domain, a row each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/format.h"

#define CELL_WIDTH_MIN 20	/* of the cell for all nodes in the narrow table */

/*
 * A column a node is easy to compare and to cut; where that gets too wide, one
 * cell holds all nodes with memory. JSON has an array, indexed by node.
 */
enum shape { NODE_COLUMNS, NODE_CELL, NODE_ARRAY, NO_NODES };

static size_t cell_width;

static const struct field fields[] = {
	FACT("NAME", "name", CELL_TEXT, domain.name),
	FACT("ID", "id", CELL_NUMBER32, domain.id),
	FACT("TYPE", "type", CELL_TEXT, domain.type),
	KNOWN("POLICY", "policy", CELL_TEXT, policy.name, has_policy),
	KNOWN("HOME", "home_nodes", CELL_NODES, policy.weight, has_policy),
	KNOWN("CARREFOUR", "", CELL_TEXT, switches, has_policy, FOR_PEOPLE),
	KNOWN("CARREFOUR", "carrefour", CELL_BOOL, carrefour, has_carrefour, FOR_PROGRAMS),
	KNOWN("AUTO", "auto", CELL_TEXT, automatic, has_policy, FOR_PROGRAMS),
	KNOWN("AT-HOME", "at_home_percent", CELL_SHARE, at_home, has_policy),
	KNOWN("FELL-BACK", "fallback_pages", CELL_NUMBER, policy.fallback, has_policy),
	KNOWN("MEMORY", "memory", CELL_BYTES, memory, has_usage),
};

/* False if the domain went away meanwhile. */
static bool look(struct facts *e)
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

	get_switches(e);
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

static void put_by_node(struct table *table, const struct facts *e,
			const struct nodes *nodes, enum shape shape)
{
	unsigned int node;

	switch (shape) {
	case NO_NODES:
		break;
	case NODE_ARRAY:
		if (e->has_usage)
			put_node_array(table, &e->usage, nodes);
		else
			put_nothing(table);
		break;
	case NODE_CELL:
		put_node_cell(table, &e->usage);
		break;
	case NODE_COLUMNS:
		for (node = 0; node < nodes->nr; node++) {
			if (nodes->exists[node] && e->has_usage)
				put_bytes(table, usage_of_node(&e->usage, node));
			else if (nodes->exists[node])
				put_nothing(table);
		}
	}
}

static bool is_off(const struct facts *e)
{
	return !e->has_policy || !strcmp(e->switches, "off");
}

/* People need no column that has nothing to tell of any domain. */
static unsigned int choose_fields(struct field *chosen, const struct facts *entries, unsigned int nr)
{
	bool fallback = false, switched = false;
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		fallback |= entries[i].has_policy && entries[i].policy.fallback;
		switched |= !is_off(&entries[i]);
	}
	for (i = 0; i < NR(fields); i++) {
		size_t offset = fields[i].offset;

		if (output_format() != FORMAT_TABLE ||
		    ((fallback || offset != offsetof(struct facts, policy.fallback)) &&
		     (switched || offset != offsetof(struct facts, switches))))
			chosen[n++] = fields[i];
	}
	return n;
}

static struct table *make_table(const struct facts *entries, unsigned int nr,
				const struct nodes *nodes, enum shape shape)
{
	static const struct column cell = { "BY NODE", "", KIND_LINES };
	static const struct column array = {
		"", "memory_by_node", KIND_NUMBER
	};
	struct field chosen[NR(fields)];
	struct column columns[NR(fields) + NODES_MAX];
	char title[NODES_MAX][12], key[NODES_MAX][12];
	unsigned int i, n, node, nr_chosen = choose_fields(chosen, entries, nr);
	struct table *table;

	n = fields_to_columns(chosen, nr_chosen, columns);
	if (shape == NODE_ARRAY)
		columns[n++] = array;
	else if (shape == NODE_CELL)
		columns[n++] = cell;
	for (node = 0; shape == NODE_COLUMNS && node < nodes->nr; node++) {
		if (!nodes->exists[node])
			continue;
		snprintf(title[node], sizeof(title[node]), "N%u", node);
		snprintf(key[node], sizeof(key[node]), "n%u", node);
		columns[n++] = (struct column){ title[node], key[node], KIND_NUMBER };
	}

	table = table_new("domains", columns, n);
	for (i = 0; i < nr; i++) {
		table_row(table);
		put_fields(table, chosen, nr_chosen, &entries[i]);
		put_by_node(table, &entries[i], nodes, shape);
	}
	return table;
}

static void run(const struct options *options, int argc, char **argv)
{
	enum shape shape = options->format == FORMAT_JSON ? NODE_ARRAY :
			   NODE_COLUMNS;
	struct domain *domains;
	struct facts *entries;
	struct nodes nodes;
	unsigned int i, nr, shown = 0;
	struct table *table;

	(void)argc;
	(void)argv;
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check(backend_domains(&domains, &nr), "list the domains");
	entries = check_alloc(calloc(nr + 1, sizeof(*entries)));
	for (i = 0; i < nr; i++) {
		struct facts *e = &entries[shown];

		*e = (struct facts){ .domain = domains[i] };
		if (look(e)) {
			complete_facts(e);
			shown++;
		} else {
			free(e->domain.name);
		}
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

static const struct option_spec options_list[] = {
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_list = {
	.name = "list",
	.arguments = "",
	.summary = "all domains: policy, and on which nodes their memory is",
	.options = options_list,
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
