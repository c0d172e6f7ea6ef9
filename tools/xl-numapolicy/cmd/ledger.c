/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "cmd/ledger.h"
#include "print/format.h"
#include "print/output.h"

static const struct column columns[] = {
	{ "SECONDS-AGO", "seconds_ago", KIND_NUMBER },
	{ "VM", "name", KIND_TEXT },
	{ "ID", "id", KIND_NUMBER },
	{ "WHY", "why", KIND_TEXT },
	{ "FROM", "nodes_before", KIND_LIST },
	{ "TO", "nodes", KIND_LIST },
	{ "MOVED", "bytes", KIND_NUMBER },
	{ "COST", "cost_ns", KIND_NUMBER },
	{ "BROUGHT", "brought_ns", KIND_NUMBER },
	{ "STATE", "state", KIND_TEXT },
};
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))
#define OF_VM 2			/* columns that say which VM it is, after the first one */

struct rows {
	struct table *table;
	unsigned int nr;
	bool one_vm;
};

static void put_node_list(struct table *table, const struct answer *entry, const char *name)
{
	uint32_t weight[NODES_MAX];

	answer_nodes(entry, name, weight);
	put_nodes(table, weight);
}

/* CPU time. */
static void put_time(struct table *table, uint64_t ns)
{
	char number[NUMBER_TEXT], text[NUMBER_TEXT + 2];

	if (output_format() != FORMAT_TABLE) {
		put_number(table, ns);
		return;
	}
	snprintf(text, sizeof(text), "%ss", format_seconds(number, ns));
	put_text(table, text);
}

static void put_entry(const struct answer *entry, void *arg)
{
	struct rows *rows = arg;
	struct table *table = rows->table;

	rows->nr++;
	table_row(table);
	put_word(table, answer_text(entry, "seconds_ago"));
	if (!rows->one_vm) {
		put_word(table, answer_text(entry, "name"));
		put_word(table, answer_text(entry, "id"));
	}
	put_word(table, answer_text(entry, "why"));
	put_node_list(table, entry, "nodes_before");
	put_node_list(table, entry, "nodes");
	put_bytes(table, answer_number(entry, "bytes"));
	put_time(table, answer_number(entry, "cost_ns"));
	put_time(table, answer_number(entry, "brought_ns"));
	put_word(table, answer_text(entry, "state"));
}

void print_ledger(const struct answer *answer, const char *array, bool one_vm)
{
	struct column shown[NR_COLUMNS];
	unsigned int left_out = one_vm ? OF_VM : 0;
	struct rows rows = { .one_vm = one_vm };

	shown[0] = columns[0];
	memcpy(&shown[1], &columns[1 + left_out], (NR_COLUMNS - 1 - left_out) * sizeof(*shown));
	rows.table = table_new("heal", shown, NR_COLUMNS - left_out);
	answer_each(answer, array, put_entry, &rows);
	if (rows.nr) {
		if (one_vm)
			putchar('\n');
		table_print(rows.table, true);
	}
	table_free(rows.table);
}

static void print_heal(const struct answer *answer, const struct answer *ledger)
{
	char *mode = text_escape(answer_text(answer, "heal")), *ago = text_escape(answer_text(answer, "seconds_ago"));
	unsigned long long actions = answer_number(ledger, "actions");

	printf("heal        %s%s%s%s\n", mode, *ago ? ", looked " : "", ago, *ago ? " seconds ago" : "");
	printf("actions     %llu so far", actions);
	if (actions)
		printf(": %llu paid, %llu lost, %llu paid and regretted", (unsigned long long)answer_number(ledger, "paid"),
		       (unsigned long long)answer_number(ledger, "lost"), (unsigned long long)answer_number(ledger, "regretted"));
	putchar('\n');
	if (answer_number(ledger, "stopped"))
		puts("stopped     too many were lost; 'systemctl restart carrefourd' lets it go on");
	if (!strcmp(mode, "off"))
		puts("            'heal = advise' in carrefour.conf has carrefourd look at all VMs; see carrefour.conf(5)");
	if (actions)
		putchar('\n');
	free(mode);
	free(ago);
}

void print_host_ledger(const struct answer *answer)
{
	const struct answer *ledger = answer_part(answer, "ledger");

	if (output_format() == FORMAT_TABLE)
		print_heal(answer, ledger);
	print_ledger(ledger, "entries", false);
}
