/* SPDX-License-Identifier: GPL-2.0-only */
/* top: all domains, again and again, with what Carrefour sees and does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/watched.h"

#define DELAY 2			/* seconds, if none are given */
#define CLEAR "\033[H\033[J"	/* to the upper left, and all below is empty */

static const struct field fields[] = {
	FACT("NAME", "name", CELL_TEXT, domain.name),
	FACT("ID", "id", CELL_NUMBER32, domain.id),
	FACT("POLICY", "policy", CELL_TEXT, policy.name),
	KNOWN("CARREFOUR", "", CELL_TEXT, switches, has_policy, FOR_PEOPLE),
	KNOWN("CARREFOUR", "carrefour", CELL_BOOL, carrefour, has_carrefour, FOR_PROGRAMS),
	{ "AUTO", "auto", CELL_TEXT, offsetof(struct facts, automatic), .only = FOR_PROGRAMS },
	FACT("AT-HOME", "at_home_percent", CELL_SHARE, at_home),
	FACT("MEMORY", "memory", CELL_BYTES, memory),
};

/* Nothing if it is gone meanwhile. */
static void put_domain(struct table *table, const struct domain *domain, const struct watched *w)
{
	struct facts facts = { .domain = *domain };
	struct watched_row row;

	if (domain->pv || domain->dying || backend_get(domain->id, &facts.policy) || backend_usage(domain->id, &facts.usage))
		return;
	facts.has_policy = true;
	get_switches(&facts);
	complete_facts(&facts);
	fill_watched(&row, w);
	table_row(table);
	put_fields(table, fields, NR(fields), &facts);
	put_fields(table, watched_fields, nr_watched_fields, &row);
}

static void show(const struct watching *watching, struct domain *domains, unsigned int nr)
{
	struct column *columns = check_alloc(calloc(NR(fields) + nr_watched_fields, sizeof(*columns)));
	struct table *table;
	unsigned int i, n;

	n = fields_to_columns(fields, NR(fields), columns);
	n += fields_to_columns(watched_fields, nr_watched_fields, columns + n);
	table = table_new("domains", columns, n);
	free(columns);
	for (i = 0; i < nr; i++) {
		put_domain(table, &domains[i], carrefour_find(watching, domains[i].id));
		free(domains[i].name);
	}
	table_print(table, true);
	table_free(table);
}

/* One line: whose numbers they are, and of when. */
static void print_head(const struct watching *watching, bool runs)
{
	time_t now = time(NULL);
	char text[32];

	strftime(text, sizeof(text), "%H:%M:%S", localtime(&now));
	if (runs)
		printf("%s  carrefourd: period %" PRIu64 " of %.1f s, %u domain%s watched\n\n", text, watching->period,
		       watching->period_ms / 1000.0, watching->nr, watching->nr == 1 ? "" : "s");
	else
		printf("%s  carrefourd does not %s\n\n", text, watching->silent ? "answer" : "run: placement is static");
}

static void run(const struct options *options, int argc, char **argv)
{
	bool screen = isatty(STDOUT_FILENO) && options->format == FORMAT_TABLE;
	/* What is no screen is not looked at again and again, unless it is asked for. */
	uint64_t left = options->count ? options->count : screen ? UINT64_MAX : 1;

	struct watching watching;
	struct domain *domains;
	unsigned int nr;
	bool runs;

	(void)argc;
	(void)argv;
	for (;;) {
		runs = carrefour_show(&watching);
		check(backend_domains(&domains, &nr), "list the domains");
		output_begin(options->format);
		if (screen)
			fputs(CLEAR, stdout);
		if (options->format == FORMAT_TABLE)
			print_head(&watching, runs);
		show(&watching, domains, nr);
		free(domains);
		free(watching.watched);
		if (!--left)
			break;
		/* Each refresh is a document, whole before the next one begins. */
		output_finish();
		sleep(options->seconds ? options->seconds : DELAY);
	}
	output_end();
}

static const struct option_spec options_top[] = {
	{ "seconds", 0, "N", "refresh that often, instead of every 2 seconds", RIGHT_COUNT, OPTION(seconds) },
	{ "count", 0, "N", "end after so many times", RIGHT_COUNT, OPTION(count) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_top = {
	.name = "top",
	.arguments = "",
	.summary = "all domains, refreshed: accesses, and what Carrefour does",
	.options = options_top,
	.help =
"LOCAL is the share of the accesses that stay on the node of the CPU, IMBALANCE\n"
"how unequal the load of the nodes is, MOVES what the last period has moved,\n"
"MOVED what carrefourd has moved since it sees the domain. STATE is what it did\n"
"in the last period, or why there are no samples. Ends with Ctrl-C; where the\n"
"output is no terminal, after one table. --json prints a document a refresh.\n"
"\n"
"Examples:\n"
"  xl numa-policy top\n"
"  xl numa-policy top --raw --count 60 --seconds 1 >guests.txt\n"
"  xl numa-policy top --json --count 5 | jq '.domains[] | .local_percent'\n",
	.run = run,
};
