/* SPDX-License-Identifier: GPL-2.0-only */
/* evacuate: the memory of all VMs leaves a node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "ask/spec.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/evacuation.h"
#include "cmd/setting.h"
#include "print/format.h"

#define ROW(title, key, cell, member) { title, key, cell, offsetof(struct evacuation, member) }

static const struct field fields[] = {
	ROW("NAME", "", CELL_TEXT, outcome.domain.name),
	ROW("ID", "", CELL_NUMBER32, outcome.domain.id),
	ROW("POLICY", "", CELL_TEXT, outcome.policy),
	ROW("HOME", "", CELL_NODES, home),
	ROW("WAS", "", CELL_BYTES, was),
	{ "LEFT", "", CELL_BYTES, offsetof(struct evacuation, left), IF(struct evacuation, has_left) },
	ROW("WHY", "", CELL_TEXT, outcome.why),
};

/* Programs get all that rebalance says, too. An object begins with the event; only a row has lists. */
static const struct field first_fields[] = {
	ROW("", "event", CELL_TEXT, outcome.event),
	ROW("", "node", CELL_NUMBER32, node),
	ROW("", "was_bytes", CELL_BYTES, was),
	{ "", "left_bytes", CELL_BYTES, offsetof(struct evacuation, left), IF(struct evacuation, has_left) },
	ROW("", "homes_changed", CELL_BOOL, homes_changed),
};

/* malloc()ed; how many there are. */
static unsigned int all_fields(struct field **all)
{
	unsigned int i, nr = NR(first_fields) + nr_outcome_fields;

	*all = check_alloc(calloc(nr, sizeof(**all)));
	memcpy(*all, first_fields, sizeof(first_fields));
	for (i = 0; i < nr_outcome_fields; i++) {
		(*all)[NR(first_fields) + i] = outcome_fields[i];
		(*all)[NR(first_fields) + i].offset += offsetof(struct evacuation, outcome);
	}
	return nr;
}

static void print_object_of(const struct evacuation *e)
{
	struct field *all;
	unsigned int nr = all_fields(&all);

	print_object(all, nr, e);
	free(all);
}

static void print_rows(const struct evacuation *rows, unsigned int nr)
{
	const struct field *chosen = fields;
	unsigned int i, nr_chosen = NR(fields);
	struct field *all = NULL;
	struct table *table;

	if (output_format() == FORMAT_RAW) {
		nr_chosen = all_fields(&all);
		all[0] = (struct field)ROW("", "home_nodes", CELL_NODES, home);
		chosen = all;
	}
	table = table_of_fields("evacuate", chosen, nr_chosen);
	for (i = 0; i < nr; i++) {
		table_row(table);
		put_fields(table, chosen, nr_chosen, &rows[i]);
	}
	table_print(table, true);
	table_free(table);
	free(all);
}

/* What there is beyond VMs that can be moved: dom0, say. */
static void print_node(const struct leaving *leaving, const struct evacuation *rows, unsigned int nr)
{
	char used[NUMBER_TEXT], size[NUMBER_TEXT], left[NUMBER_TEXT];
	unsigned int i, node = leaving->node;
	uint64_t sum = 0, bytes;
	struct nodes nodes;

	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	for (i = 0; i < nr; i++)
		sum += rows[i].has_left ? rows[i].left : rows[i].was;
	bytes = nodes.bytes[node] - nodes.free[node];
	printf("\nOf node %u %s of %s are in use: %s by these VMs, the rest by Xen, dom0 and other PV domains\n", node,
	       format_bytes(used, bytes), format_bytes(size, nodes.bytes[node]), format_bytes(left, sum));
}

static unsigned int count_bad(const struct evacuation *rows, unsigned int nr)
{
	unsigned int i, bad = 0;

	for (i = 0; i < nr; i++)
		bad += rows[i].outcome.why || rows[i].outcome.policy_changed;
	return bad;
}

static void list_nodes(char list[LIST_TEXT], const bool node[NODES_MAX])
{
	uint32_t weight[NODES_MAX];
	unsigned int i;

	for (i = 0; i < NODES_MAX; i++)
		weight[i] = node[i];
	format_nodes(list, weight);
}

static unsigned int read_node(const char *word, const struct nodes *nodes)
{
	char list[LIST_TEXT];
	unsigned long number = strtoul(word, NULL, 10);

	list_nodes(list, nodes->memory);
	if (!*word || word[strspn(word, "0123456789")])
		die_usage("evacuate", "'%s' is no node; give its number, of %s", word, list);
	if (number >= NODES_MAX || !nodes->exists[number])
		die("no node %s; of this machine's nodes, %s have memory", word, list);
	if (!nodes->memory[number])
		die("node %s has no memory; of this machine's nodes, %s have", word, list);
	return number;
}

static void read_targets(struct leaving *leaving, const char *list)
{
	struct request request;
	char *spec, why[256];
	enum result result;

	if (asprintf(&spec, "round-4k,nodes=%s", list) < 0)
		die("out of memory");
	result = backend_parse(spec, &request, why, sizeof(why));
	if (result == RESULT_REFUSED)
		die("no nodes '%s': %s", list, why);
	check(result, "read the nodes");
	free(spec);
	check_setting(&request, NULL, &leaving->nodes);
	if (request.node[leaving->node])
		die("--to %s names node %u, which is to be emptied; leave it out, as in %s,^%u", list, leaving->node, list,
		    leaving->node);
	memcpy(leaving->to, request.node, sizeof(leaving->to));
	leaving->has_to = true;
}

static void run(const struct options *options, int argc, char **argv)
{
	struct leaving leaving = { .options = options };
	struct evacuation *rows;
	struct domain *domains;
	unsigned int i, nr, shown = 0, bad;
	int signal = 0;

	(void)argc;
	check(backend_nodes(&leaving.nodes), "ask for the NUMA nodes");
	leaving.node = read_node(argv[0], &leaving.nodes);
	if (options->to)
		read_targets(&leaving, options->to);
	check(backend_domains(&domains, &nr), "list the VMs");
	rows = check_alloc(calloc(nr + 1, sizeof(*rows)));
	output_begin(options->format == FORMAT_RAW ? FORMAT_RAW : FORMAT_TABLE);
	for (i = 0; i < nr; i++) {
		struct evacuation *e = &rows[shown];

		*e = (struct evacuation){ .outcome.domain = domains[i] };
		if (signal || domains[i].pv || domains[i].dying || !evacuate_one(e, &leaving)) {
			free(domains[i].name);
			continue;
		}
		signal = e->outcome.signal;
		if (options->format == FORMAT_JSON)
			print_object_of(e);
		shown++;
		/* The next one finds what this one has left free. */
		check(backend_nodes(&leaving.nodes), "ask for the NUMA nodes");
	}
	free(domains);
	if (options->format != FORMAT_JSON)
		print_rows(rows, shown);
	if (options->format == FORMAT_TABLE)
		print_node(&leaving, rows, shown);
	output_end();
	if (signal) {
		say("stopped by %s at VM '%s'; the same command goes on", signal_name(signal),
		    domain_name(&rows[shown - 1].outcome.domain));
		exit(128 + signal);
	}
	bad = options->strict ? count_bad(rows, shown) : 0;
	for (i = 0; i < shown; i++)
		free(rows[i].outcome.domain.name);
	free(rows);
	if (bad)
		die("memory of %u VM%s stays on node %u, or its policy was changed meanwhile, which --strict makes a failure",
		    bad, bad == 1 ? "" : "s", leaving.node);
}

static const struct option_spec options_evacuate[] = {
	{ "to", 0, "LIST", "to these nodes, like 0-3,^1", OPTION_TEXT, OPTION(to), "0123456789,^-:adelnos",
	  "numbers and ranges like 0-3,^1, or all,^N" },
	{ "force", .help = "also of VMs whose home nodes somebody has named", OPTION(force) },
	{ "max-mb-per-s", 0, "N", "move no more than N MiB a second", RIGHT_RATE, OPTION(max_mb_per_s) },
	{ "dry-run", .help = "change and move nothing, say which VMs it is about", OPTION(dry_run) },
	{ "strict", .help = "status 1 if any of it stays there", OPTION(strict) },
	{ "quiet", 'q', .help = "show no progress", OPTION(quiet) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_evacuate = {
	.name = "evacuate",
	.arguments = "NODE",
	.summary = "move the memory of all VMs off a node",
	.options = options_evacuate,
	.help =
"The node is no home node of any VM afterwards: where they followed the vCPUs, they\n"
"are now named. They are those that were left, and those of --to; if none is left,\n"
"the fewest nodes with CPUs that have room. VMs whose home nodes somebody has named\n"
"stay as they are without --force. Of a VM with policy none only what is on the\n"
"node moves.\n"
"vCPUs stay where they are. WAS is the memory that a VM had on the node, LEFT what\n"
"it still has, WHY the reason. Ctrl-C stops it; the same command then goes on.\n"
"\n"
"Examples:\n"
"  xl numa-policy evacuate 2 --dry-run\n"
"  xl numa-policy evacuate 2 --to 0-1 --max-mb-per-s 500\n"
"  xl numa-policy evacuate 2 --force\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};
