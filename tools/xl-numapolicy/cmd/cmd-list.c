/* SPDX-License-Identifier: GPL-2.0-only */
/* list: every domain, a row each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/carrefour.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/advice.h"
#include "cmd/by-node.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/format.h"

#define CELL_WIDTH_MIN 16	/* of the cell for all nodes in the narrow table */

static const struct field fields[] = {
	FACT("NAME", "name", CELL_TEXT, domain.name),
	KNOWN("ID", "id", CELL_NUMBER32, domain.id, has_id),
	FACT("TYPE", "type", CELL_TEXT, domain.type),
	KNOWN("POLICY", "policy", CELL_TEXT, policy.name, has_policy),
	KNOWN("HOME", "home_nodes", CELL_NODES, policy.weight, has_policy),
	KNOWN("CARREFOUR", "", CELL_TEXT, switches, has_policy, FOR_PEOPLE),
	KNOWN("CARREFOUR", "carrefour", CELL_BOOL, carrefour, has_carrefour, FOR_PROGRAMS),
	KNOWN("AUTO", "auto", CELL_TEXT, automatic, has_policy, FOR_PROGRAMS),
	KNOWN("VCPUS", "vcpu_nodes", CELL_NODES, vcpus, has_vcpus),
	KNOWN("NODES", "nodes_in_use", CELL_NUMBER32, fit.in_use, has_fit),
	KNOWN("NEEDED", "nodes_needed", CELL_NUMBER32, fit.needed, has_fit, FOR_PROGRAMS),
	KNOWN("NUMA", "numa_percent", CELL_LOCALITY, numa, has_fit),
	KNOWN("NUMA-FROM", "numa_from", CELL_TEXT, numa_from, has_fit, FOR_PROGRAMS),
	KNOWN("AT-HOME", "at_home_percent", CELL_SHARE, at_home, has_policy),
	KNOWN("LOCAL", "vcpu_local_percent", CELL_SHARE, local, has_vcpus, FOR_PROGRAMS),
	KNOWN("FELL-BACK", "fallback_pages", CELL_NUMBER, policy.fallback, has_policy),
	KNOWN("BY-4K", "", CELL_BYTES, mapped[SIZE_4K], keeps_large, FOR_PEOPLE),
	KNOWN("", "mapped_4k_bytes", CELL_BYTES, mapped[SIZE_4K], has_usage, FOR_PROGRAMS),
	KNOWN("", "mapped_2m_bytes", CELL_BYTES, mapped[SIZE_2M], has_usage, FOR_PROGRAMS),
	KNOWN("", "mapped_1g_bytes", CELL_BYTES, mapped[SIZE_1G], has_usage, FOR_PROGRAMS),
	KNOWN("MEMORY", "memory_bytes", CELL_BYTES, memory, has_usage),
	KNOWN("UUID", "uuid", CELL_CHARACTERS, domain.uuid, has_id, FOR_PROGRAMS),
};

/* False if the domain went away meanwhile. watching: NULL asks for no memory, either. */
static bool look(struct facts *e, const struct watching *watching, const struct nodes *nodes)
{
	enum result result;

	e->has_id = true;
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
	if (!watching)
		return true;
	result = backend_usage(e->domain.id, &e->usage);
	if (result == RESULT_NO_DOMAIN)
		return false;
	if (result != RESULT_REFUSED) {
		check_domain(result, &e->domain, "ask for the memory of");
		e->has_usage = true;
	}
	e->has_vcpus = backend_vcpus(e->domain.id, e->vcpus, e->may_run) == RESULT_OK && e->has_usage;
	complete_facts(e);
	judge_locality(e, carrefour_find(watching, e->domain.id), nodes);
	return true;
}

/* The last two rows of the table for people. */
static void put_host(struct table *table, const struct field *chosen, unsigned int nr_chosen,
		     const struct nodes *nodes, enum shape shape)
{
	const struct {
		const char *name;
		const uint64_t *bytes;
	} rows[] = { { "(free)", nodes->free }, { "(host)", nodes->bytes } };
	unsigned int i, node;

	for (i = 0; i < NR(rows); i++) {
		struct facts host = { .domain.name = (char *)rows[i].name, .has_usage = true };

		for (node = 0; node < nodes->nr; node++)
			host.memory += rows[i].bytes[node];
		table_row(table);
		put_fields(table, chosen, nr_chosen, &host);
		put_by_node(table, NULL, rows[i].bytes, nodes, shape);
	}
}

static bool is_off(const struct facts *e)
{
	return !e->has_policy || !strcmp(e->switches, "off");
}

/* What --brief does not ask for. */
static bool of_memory(const struct field *field)
{
	return field->offset == offsetof(struct facts, at_home) || field->known == IF(struct facts, has_usage) ||
	       field->known == IF(struct facts, keeps_large) || field->known == IF(struct facts, has_vcpus) ||
	       field->known == IF(struct facts, has_fit);
}

/* People need no column that has nothing to tell of any domain. Where it gets narrow, three others have to go. */
static unsigned int choose_fields(struct field *chosen, const struct facts *entries, unsigned int nr, bool brief,
				  bool narrow)
{
	bool fallback = false, switched = false, lost = false;
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		fallback |= entries[i].has_policy && entries[i].policy.fallback;
		switched |= !is_off(&entries[i]);
		lost |= has_lost_large(&entries[i]);
	}
	for (i = 0; i < NR(fields); i++) {
		size_t offset = fields[i].offset;

		if ((brief && of_memory(&fields[i])) ||
		    (narrow && (offset == offsetof(struct facts, domain.type) || offset == offsetof(struct facts, vcpus) ||
				offset == offsetof(struct facts, fit.in_use))))
			continue;
		if (output_format() != FORMAT_TABLE ||
		    ((lost || fields[i].known != IF(struct facts, keeps_large)) &&
		     (fallback || offset != offsetof(struct facts, policy.fallback)) &&
		     (switched || offset != offsetof(struct facts, switches))))
			chosen[n++] = fields[i];
	}
	return n;
}

static void put_advice(struct table *table, const struct facts *e, const struct nodes *nodes)
{
	char command[ADVICE_TEXT], why[ADVICE_TEXT];

	if (find_advice(e, nodes, command, why))
		put_text(table, command);
	else
		put_nothing(table);
}

/* For people: to be typed, or pasted, as it is. */
static void print_advice(const struct facts *entries, unsigned int nr, const struct nodes *nodes)
{
	char command[ADVICE_TEXT], why[ADVICE_TEXT];
	bool any = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!find_advice(&entries[i], nodes, command, why))
			continue;
		printf("%s%s  # %s\n", any ? "" : "\nWhat repairs them:\n", command, why);
		any = true;
	}
}

static struct table *make_table(const struct facts *entries, unsigned int nr,
				const struct nodes *nodes, enum shape shape, bool brief)
{
	static const struct column cell = { "BY NODE", "", KIND_LINES };
	static const struct column array = {
		"", "memory_by_node_bytes", KIND_NUMBER
	};
	struct field chosen[NR(fields)];
	struct column columns[NR(fields) + 1 + NODES_MAX];
	char title[NODES_MAX][12], key[NODES_MAX][12];
	bool narrow = !brief && (shape == NODE_CELL || shape == NO_NODES);
	unsigned int i, n, node, nr_chosen = choose_fields(chosen, entries, nr, brief, narrow);
	bool advises = !brief && output_format() != FORMAT_TABLE;
	struct table *table;

	n = fields_to_columns(chosen, nr_chosen, columns);
	if (advises)
		columns[n++] = (struct column){ "", "advice", KIND_TEXT };
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
		by_node bytes;

		for (node = 0; node < NODES_MAX; node++)
			bytes[node] = usage_of_node(&entries[i].usage, node);
		table_row(table);
		put_fields(table, chosen, nr_chosen, &entries[i]);
		if (advises)
			put_advice(table, &entries[i], nodes);
		put_by_node(table, &entries[i].policy, entries[i].has_usage ? bytes : NULL, nodes, shape);
	}
	if (output_format() == FORMAT_TABLE && !brief)
		put_host(table, chosen, nr_chosen, nodes, shape);
	return table;
}

/* For programs, which would take rows of the host for domains. */
static void print_host(const struct nodes *nodes)
{
	static const struct column columns[] = {
		{ "", "node", KIND_NUMBER }, { "", "total_bytes", KIND_NUMBER }, { "", "free_bytes", KIND_NUMBER },
	};
	struct table *table = table_new("host", columns, NR(columns));
	unsigned int node;

	if (output_format() == FORMAT_RAW)
		putchar('\n');
	for (node = 0; node < nodes->nr; node++) {
		if (!nodes->exists[node])
			continue;
		table_row(table);
		put_number(table, node);
		put_bytes(table, nodes->bytes[node]);
		put_bytes(table, nodes->free[node]);
	}
	table_print(table, true);
	table_free(table);
}

static bool is_among(const struct domain *domains, unsigned int nr, uint32_t id)
{
	while (nr--)
		if (domains[nr].id == id)
			return true;
	return false;
}

/* Those that are named, each once, or all; *domains is malloc()ed. */
static unsigned int find_domains(struct domain **domains, int argc, char **argv)
{
	struct domain *next;
	unsigned int nr = 0;
	int i;

	if (!argc) {
		check(backend_domains(domains, &nr), "list the VMs");
		return nr;
	}
	*domains = check_alloc(calloc(argc, sizeof(**domains)));
	for (i = 0; i < argc; i++) {
		next = &(*domains)[nr];
		find_domain(argv[i], next);
		if (is_among(*domains, nr, next->id))
			free(next->name);
		else
			nr++;
	}
	return nr;
}

static void print(const struct facts *entries, unsigned int nr, const struct nodes *nodes, const struct options *options)
{
	enum shape shape = options->brief ? NO_NODES : options->format == FORMAT_JSON ? NODE_ARRAY : NODE_COLUMNS;
	struct table *table;

	output_begin(options->format);
	table = make_table(entries, nr, nodes, shape, options->brief);
	if (options->format == FORMAT_TABLE && shape == NODE_COLUMNS &&
	    table_width(table) > screen_width()) {
		table_free(table);
		table = make_table(entries, nr, nodes, NO_NODES, false);
		by_node_width(CELL_WIDTH_MIN);
		if (table_width(table) + 1 + CELL_WIDTH_MIN < screen_width())
			by_node_width(screen_width() - table_width(table) - 1);
		table_free(table);
		table = make_table(entries, nr, nodes, NODE_CELL, false);
	}
	table_print(table, true);
	table_free(table);
	if (options->format != FORMAT_TABLE && !options->brief)
		print_host(nodes);
	if (options->format == FORMAT_TABLE && !options->brief)
		print_advice(entries, nr, nodes);
	output_end();
}

static void run(const struct options *options, int argc, char **argv)
{
	struct domain *domains;
	struct facts *entries;
	struct nodes nodes;
	unsigned int i, nr, shown = 0;
	struct watching watching = { 0 };

	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	nr = find_domains(&domains, argc, argv);
	if (!options->brief)
		carrefour_show(&watching);
	entries = check_alloc(calloc(nr + 1, sizeof(*entries)));
	for (i = 0; i < nr; i++) {
		struct facts *e = &entries[shown];

		*e = (struct facts){ .domain = domains[i] };
		if (look(e, options->brief ? NULL : &watching, &nodes))
			shown++;
		else
			free(e->domain.name);
	}
	free(domains);
	print(entries, shown, &nodes, options);
	free(watching.watched);
	for (i = 0; i < shown; i++)
		free(entries[i].domain.name);
	free(entries);
}

static const struct option_spec options_list[] = {
	{ "brief", .help = "leave out where memory is, and what follows from it", OPTION(brief) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_list = {
	.name = "list",
	.arguments = "[DOM]...",
	.summary = "all VMs: policy, and on which nodes their memory is",
	.options = options_list,
	.help =
"NUMA is low if the VM is slow because of NUMA. It is the share of the accesses\n"
"that are local where carrefourd samples them. With ~ it is an estimate: how local\n"
"they can be with vCPUs and memory where they are now, of the best that this host\n"
"could do. NODES counts those in use. HOME has the home nodes, AT-HOME is the\n"
"share of the memory that is on them. VCPUS has the nodes where the vCPUs run now.\n"
"FELL-BACK counts the 4 KiB pages that went to another node, as the node that the\n"
"policy named was full. CARREFOUR says what is switched on. BY-4K is the memory\n"
"that is mapped by 4 KiB although the policy keeps 2 MiB whole. Columns that have\n"
"nothing to tell are left out. Below is what you can type to repair VMs.\n"
"dom0 and other PV domains have no policy; their rows show \"-\".\n"
"The last two rows are the host's: its (free) memory, and the memory of its nodes.\n"
"\n"
"Examples:\n"
"  xl numa-policy list\n"
"  xl numa-policy list guest1 guest2\n"
"  xl numa-policy list --raw | awk '$4 == \"round-4k\" { print $1 }'\n"
"  xl numa-policy list --json | jq '.domains[] | {name, memory_by_node_bytes}'\n",
	.max_arguments = -1,
	.run = run,
};
