/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory by node, in as much room as there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/by-node.h"
#include "cmd/guest.h"
#include "print/format.h"

#define EVEN_PERCENT 5
#define EVEN_NODES 5		/* fewer are soon read */

static size_t cell_width;

void by_node_width(size_t width)
{
	cell_width = width;
}

static void put_node_array(struct table *table, const by_node bytes,
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
					(unsigned long long)bytes[node]);
		else
			len += snprintf(text + len, sizeof(text) - len, "null");
	}
	snprintf(text + len, sizeof(text) - len, "]");
	put_text(table, text);
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Of a policy that interleaves: the home nodes that have as much for their weight as most of them, within EVEN_PERCENT.
 * Many numbers that hardly differ would hide the few that do.
 */
static bool find_even(const struct policy *policy, const by_node bytes, uint32_t even[NODES_MAX])
{
	double ratio[NODES_MAX], middle;
	unsigned int node, nr = 0, homes = 0;

	for (node = 0; node < NODES_MAX; node++)
		if (policy->weight[node])
			ratio[homes++] = (double)bytes[node] / policy->weight[node];
	if (homes < EVEN_NODES)
		return false;
	qsort(ratio, homes, sizeof(*ratio), compare);
	middle = ratio[homes / 2];
	for (node = 0; node < NODES_MAX; node++) {
		double percent = policy->weight[node] && middle > 0 ? 100 * bytes[node] / middle / policy->weight[node] : 0;

		even[node] = percent >= 100 - EVEN_PERCENT && percent <= 100 + EVEN_PERCENT;
		nr += even[node];
	}
	return nr * 2 >= homes;
}

/* A cell of several lines, filled item by item. */
struct lines {
	char text[NODES_MAX * 48 + LIST_TEXT];
	size_t length, line;
};

static void add_item(struct lines *lines, const char *item)
{
	size_t add = strlen(item);

	if (lines->length && lines->line + 2 + add > cell_width) {
		lines->text[lines->length++] = '\n';
		lines->line = 0;
	} else if (lines->length) {
		lines->length += sprintf(lines->text + lines->length, ", ");
		lines->line += 2;
	}
	lines->length += sprintf(lines->text + lines->length, "%s", item);
	lines->line += add;
}

/* Neighbours with the same size, as interleaving makes them, are one item. */
static void put_node_cell(struct table *table, const struct policy *policy, const by_node bytes)
{
	char item[LIST_TEXT + 32], list[LIST_TEXT], size[NUMBER_TEXT], next[NUMBER_TEXT];
	uint32_t even[NODES_MAX] = { 0 };
	struct lines lines = { 0 };
	unsigned int first, last;

	if (policy && !strncmp(policy->name, "round-", strlen("round-")) && find_even(policy, bytes, even)) {
		snprintf(item, sizeof(item), "%s over %s", weights_equal(policy) ? "even" : "as weighted",
			 format_nodes(list, even));
		add_item(&lines, item);
	} else {
		memset(even, 0, sizeof(even));
	}
	for (first = 0; first < NODES_MAX; first = last + 1) {
		last = first;
		if (!bytes[first] || even[first])
			continue;
		format_bytes(size, bytes[first]);
		while (last + 1 < NODES_MAX && !even[last + 1] && !strcmp(size, format_bytes(next, bytes[last + 1])))
			last++;
		if (last > first)
			snprintf(item, sizeof(item), "n%u-%u %s each", first, last, size);
		else
			snprintf(item, sizeof(item), "n%u %s", first, size);
		add_item(&lines, item);
	}
	if (lines.length)
		put_text(table, lines.text);
	else
		put_nothing(table);
}

void put_by_node(struct table *table, const struct policy *policy, const by_node bytes,
			const struct nodes *nodes, enum shape shape)
{
	unsigned int node;

	switch (shape) {
	case NO_NODES:
		break;
	case NODE_ARRAY:
		if (bytes)
			put_node_array(table, bytes, nodes);
		else
			put_nothing(table);
		break;
	case NODE_CELL:
		if (bytes)
			put_node_cell(table, policy, bytes);
		else
			put_nothing(table);
		break;
	case NODE_COLUMNS:
		for (node = 0; node < nodes->nr; node++) {
			if (nodes->exists[node] && bytes)
				put_bytes(table, bytes[node]);
			else if (nodes->exists[node])
				put_nothing(table);
		}
	}
}
