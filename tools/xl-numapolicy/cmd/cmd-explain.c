/* SPDX-License-Identifier: GPL-2.0-only */
/* explain: what carrefourd recently did to a domain, or for the host, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/carrefour.h"
#include "ask/check.h"
#include "base/foreign.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "cmd/ledger.h"

static void put_decision(const struct answer *decision, void *arg)
{
	struct table *table = arg;
	const char *action = answer_text(decision, "action"), *text = answer_text(decision, "text");
	size_t length = strlen(action);

	/* The journal's line begins with the action, which has a column here. */
	if (!strncmp(text, action, length) && text[length] == ' ')
		text += length + 1;
	table_row(table);
	put_text(table, answer_text(decision, "seconds_ago"));
	put_text(table, action);
	put_text(table, text);
	put_word(table, answer_text(decision, "result"));
}

/* How many there are of each action, in the order in which they come first. */
struct summary {
	struct {
		char action[WORD_TEXT];
		unsigned int nr;
	} part[8];
	unsigned int nr_parts, nr;
};

static void count(const struct answer *decision, void *arg)
{
	const char *action = answer_text(decision, "action");
	struct summary *summary = arg;
	unsigned int i;

	summary->nr++;
	for (i = 0; i < summary->nr_parts; i++) {
		if (!strcmp(summary->part[i].action, action)) {
			summary->part[i].nr++;
			return;
		}
	}
	if (i == NR(summary->part))
		return;
	snprintf(summary->part[i].action, WORD_TEXT, "%s", action);
	summary->part[i].nr = 1;
	summary->nr_parts++;
}

static void print_summary(const struct answer *answer)
{
	struct summary summary = { 0 };
	unsigned int i;

	answer_each(answer, "decisions", count, &summary);
	printf("%-12s%llu so far", "decisions", (unsigned long long)answer_number(answer, "decisions_ever"));
	if (summary.nr)
		printf("; of the last %u", summary.nr);
	for (i = 0; i < summary.nr_parts; i++) {
		char *safe = text_escape(summary.part[i].action);

		printf("%s %u %s", i ? "," : ":", summary.part[i].nr, safe);
		free(safe);
	}
	fputs("\n\n", stdout);
}

static void print_decisions(const struct answer *answer)
{
	static const struct column columns[] = {
		{ "SECONDS-AGO", "seconds_ago", KIND_NUMBER },
		{ "ACTION", "action", KIND_TEXT },
		{ "WHY", "text", KIND_TEXT },
		{ "RESULT", "result", KIND_TEXT },
	};
	struct table *table = table_new("decisions", columns, sizeof(columns) / sizeof(*columns));

	answer_each(answer, "decisions", put_decision, table);
	table_print(table, true);
	table_free(table);
}

/* A line, if there is something to say. The daemon is not to work the terminal either. */
static void print_line(const char *what, const char *text)
{
	char *safe = text_escape(text);

	if (*text)
		printf("%-12s%s\n", what, safe);
	free(safe);
}

static void print_text(const struct domain *domain, const struct answer *answer)
{
	printf("%-12s%s (id %u)\n", "VM", domain_name(domain), domain->id);
	print_line("policy", answer_text(answer, "policy"));
	print_line("carrefour", answer_number(answer, "carrefour") ? "on" : "off");
	print_line("auto", answer_text(answer, "auto"));
	print_line("sampling", answer_text(answer, "sampling"));
	print_line("error", answer_text(answer, "sampling_error"));
	print_line("last period", answer_text(answer, "last_period"));
	print_line("auto says", answer_text(answer, "auto_says"));
	print_line("heal", answer_text(answer, "heal_says"));
	print_summary(answer);
}

static void print_vm(const struct domain *domain, const struct answer *answer)
{
	if (output_format() == FORMAT_TABLE)
		print_text(domain, answer);
	print_decisions(answer);
	print_ledger(answer, "heal_ledger", true);
}

static void run(const struct options *options, int argc, char **argv)
{
	char request[32] = "heal", *text;
	struct domain domain = { 0 };
	struct answer *answer;

	if (argc) {
		find_guest(argv[0], &domain);
		snprintf(request, sizeof(request), "explain %u", domain.id);
	}
	text = carrefour_ask(request, -1, NULL);
	if (options->format == FORMAT_JSON) {
		/* The daemon's own document: nothing is lost, and nothing is said twice. */
		output_begin(FORMAT_TABLE);
		fputs(text, stdout);
		output_end();
	} else {
		answer = answer_parse(text);
		output_begin(options->format);
		if (argc)
			print_vm(&domain, answer);
		else
			print_host_ledger(answer);
		output_end();
		answer_free(answer);
	}
	free(text);
	free(domain.name);
}

static const struct option_spec options_explain[] = {
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_explain = {
	.name = "explain",
	.arguments = "[DOM]",
	.summary = "what carrefourd did to a VM or for the host, and why",
	.options = options_explain,
	.help =
"The last period in words, how many decisions there were of each kind, and the last\n"
"64 of them, newest first, each with the numbers that led to it. The journal has\n"
"decisions only if carrefour.conf says so: log_decisions of a VM in a period.\n"
"If carrefour.conf has heal, too: what heal says of the VM, and what it has done.\n"
"\n"
"Without DOM: what heal has done for the VMs of this host, newest first. COST and\n"
"BROUGHT are CPU time. An action is open until it has brought its cost, and paid\n"
"then; lost if it has not in time; regretted if it had brought less in the end.\n"
"\n"
"Examples:\n"
"  xl numa-policy explain guest1\n"
"  xl numa-policy explain\n"
"  xl numa-policy explain guest1 --json | jq '.decisions[] | .text'\n",
	.min_arguments = 0,
	.max_arguments = 1,
	.run = run,
};
