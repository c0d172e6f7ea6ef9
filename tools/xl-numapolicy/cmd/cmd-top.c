/* SPDX-License-Identifier: GPL-2.0-only */
/* top: all domains, again and again, with what Carrefour sees and does. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask/backend.h"
#include "ask/carrefour.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "print/watched.h"

#define DELAY 2			/* seconds, if none are given */
#define CLEAR "\033[H\033[J"	/* to the upper left, and all below is empty */

struct row {
	struct facts facts;
	struct watched_row watched;
	bool seen;
};

static struct row *rows;
static unsigned int nr_rows;

#define ROW(title, key, cell, member) { title, key, cell, offsetof(struct row, member) }
#define KNOWN_ROW(title, key, cell, member, known, ...) \
	{ title, key, cell, offsetof(struct row, member), IF(struct row, known), __VA_ARGS__ }

static const struct field fields[] = {
	ROW("NAME", "name", CELL_TEXT, facts.domain.name),
	ROW("ID", "id", CELL_NUMBER32, facts.domain.id),
	ROW("POLICY", "policy", CELL_TEXT, facts.policy.name),
	KNOWN_ROW("CARREFOUR", "", CELL_TEXT, facts.switches, facts.has_policy, FOR_PEOPLE),
	KNOWN_ROW("CARREFOUR", "carrefour", CELL_BOOL, facts.carrefour, facts.has_carrefour, FOR_PROGRAMS),
	KNOWN_ROW("AUTO", "auto", CELL_TEXT, facts.automatic, facts.has_policy, FOR_PROGRAMS),
	ROW("AT-HOME", "at_home_percent", CELL_SHARE, facts.at_home),
	ROW("MEMORY", "memory_bytes", CELL_BYTES, facts.memory),
};

/* What --sort goes by: the worst first. What is not known comes last, by id. */
static const struct sort {
	const char *name;
	size_t part, whole;	/* of struct row; whole 0: part alone counts */
	size_t known;
	bool least_first;
} sorts[] = {
	{ "at-home", offsetof(struct row, facts.at_home.part), offsetof(struct row, facts.at_home.whole),
	  offsetof(struct row, facts.has_usage), true },
	{ "memory", offsetof(struct row, facts.memory), 0, offsetof(struct row, facts.has_usage) },
	{ "local", offsetof(struct row, watched.local.part), offsetof(struct row, watched.local.whole),
	  offsetof(struct row, watched.has_samples), true },
	{ "imbalance", offsetof(struct row, watched.imbalance.part), 0, offsetof(struct row, watched.has_samples) },
	{ "samples", offsetof(struct row, watched.samples), 0, offsetof(struct row, watched.is_watched) },
	{ "moves", offsetof(struct row, watched.moves), 0, offsetof(struct row, watched.is_watched) },
};

static const struct sort *sort;

static const struct sort *find_sort(const char *name)
{
	char known[128];
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < NR(sorts); i++) {
		if (!strcmp(sorts[i].name, name))
			return &sorts[i];
		used += snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", sorts[i].name);
	}
	die_usage("top", "cannot sort by '%s'; there are %s", name, known);
}

static uint64_t number(const struct row *row, size_t offset)
{
	return *(const uint64_t *)((const char *)row + offset);
}

static bool is_known(const struct row *row)
{
	return *((const bool *)row + sort->known) && (!sort->whole || number(row, sort->whole));
}

static double key(const struct row *row)
{
	double value = number(row, sort->part);

	if (sort->whole)
		value /= number(row, sort->whole);
	return sort->least_first ? value : -value;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (sort && is_known(a) != is_known(b))
		return is_known(a) ? -1 : 1;
	if (sort && is_known(a) && key(a) != key(b))
		return key(a) < key(b) ? -1 : 1;
	return a->facts.domain.id < b->facts.domain.id ? -1 : a->facts.domain.id > b->facts.domain.id;
}

static struct row *find_row(uint32_t id)
{
	unsigned int i;

	for (i = 0; i < nr_rows; i++)
		if (rows[i].facts.domain.id == id)
			return &rows[i];
	rows = check_alloc(realloc(rows, (nr_rows + 1) * sizeof(*rows)));
	rows[nr_rows] = (struct row){ .facts.domain.id = id };
	return &rows[nr_rows++];
}

/* Takes the name over, and leaves no row that is seen if the domain is gone meanwhile. */
static void look(const struct domain *domain, const struct watched *watched)
{
	struct row *row = find_row(domain->id);
	struct facts *facts = &row->facts;

	free(facts->domain.name);
	facts->domain = *domain;
	if (backend_get(domain->id, &facts->policy) || backend_usage(domain->id, &facts->usage))
		return;
	facts->has_policy = facts->has_usage = true;
	get_switches(facts);
	complete_facts(facts);
	fill_watched(&row->watched, watched);
	row->seen = true;
}

static void look_at_all(const struct watching *watching)
{
	struct domain *domains;
	unsigned int i, nr, kept = 0;

	check(backend_domains(&domains, &nr), "list the VMs");
	for (i = 0; i < nr_rows; i++)
		rows[i].seen = false;
	for (i = 0; i < nr; i++) {
		if (domains[i].pv || domains[i].dying)
			free(domains[i].name);
		else
			look(&domains[i], carrefour_find(watching, domains[i].id));
	}
	free(domains);
	for (i = 0; i < nr_rows; i++) {
		if (rows[i].seen)
			rows[kept++] = rows[i];
		else
			free(rows[i].facts.domain.name);
	}
	nr_rows = kept;
	if (nr_rows)
		qsort(rows, nr_rows, sizeof(*rows), compare);
}

/* Those of a row, and of what is watched as a part of it. */
static unsigned int all_fields(struct field *all)
{
	unsigned int i;

	memcpy(all, fields, sizeof(fields));
	for (i = 0; i < nr_watched_fields; i++) {
		struct field *field = &all[NR(fields) + i];

		*field = watched_fields[i];
		field->offset += offsetof(struct row, watched);
		field->known += field->known ? offsetof(struct row, watched) : 0;
	}
	return NR(fields) + nr_watched_fields;
}

static struct table *make_table(const struct field *chosen, unsigned int nr, unsigned int most)
{
	struct table *table = table_of_fields("domains", chosen, nr);
	unsigned int i;

	for (i = 0; i < nr_rows && i < most; i++) {
		table_row(table);
		put_fields(table, chosen, nr, &rows[i]);
	}
	return table;
}

/* Unless the rows are sorted by it. */
static unsigned int leave_out(struct field *chosen, unsigned int nr, const char *key)
{
	unsigned int i, kept = 0;

	for (i = 0; i < nr; i++)
		if (strcmp(chosen[i].key, key) || (sort && sort->part == chosen[i].offset))
			chosen[kept++] = chosen[i];
	return kept;
}

/* At most so many rows; of columns those for which there is room, and, for people, only those of which anything is known. */
static void show(bool runs, unsigned int most)
{
	/* The first to go. */
	static const char *const less[] = { "total_samples_dropped", "total_moved_bytes", "class", "samples", "at_home_percent",
					    "imbalance_percent" };
	struct field *chosen = check_alloc(calloc(NR(fields) + nr_watched_fields, sizeof(*chosen)));
	bool table_for_people = output_format() == FORMAT_TABLE;
	unsigned int i, nr = all_fields(chosen);
	struct table *table;

	if (table_for_people && !runs)
		nr = NR(fields);
	table = make_table(chosen, nr, most);
	for (i = 0; table_for_people && i < NR(less) && table_width(table) > screen_width(); i++) {
		table_free(table);
		nr = leave_out(chosen, nr, less[i]);
		table = make_table(chosen, nr, most);
	}
	free(chosen);
	table_print(table, true);
	table_free(table);
	if (nr_rows > most)
		printf("and %u more VM%s\n", nr_rows - most, nr_rows - most == 1 ? "" : "s");
}

/* Rows that a screen has room for, if it begins anew with each table. */
static unsigned int rows_that_fit(bool clears)
{
	/* Head, which may take two, empty line, titles, how many more, and where the cursor is. */
	const size_t others = 6, height = clears ? screen_height() : 0;

	return !height || nr_rows + others - 1 <= height ? UINT_MAX : height > others ? height - others : 1;
}

static bool can_clear(void)
{
	const char *terminal = getenv("TERM");

	return terminal && *terminal && strcmp(terminal, "dumb");
}

/* One line: whose numbers they are, and of when. */
static void print_head(const struct watching *watching, bool runs)
{
	time_t wall = time(NULL);
	char text[32];

	strftime(text, sizeof(text), "%H:%M:%S", localtime(&wall));
	if (runs)
		printf("%s  carrefourd: period %" PRIu64 " of %.1f s, %u VM%s watched", text, watching->period,
		       watching->period_ms / 1000.0, watching->nr, watching->nr == 1 ? "" : "s");
	else
		printf("%s  carrefourd does not %s", text, watching->mute ? "answer" : "run: placement is static");
	fputs("\n\n", stdout);
}

static void run(const struct options *options, int argc, char **argv)
{
	bool screen = isatty(STDOUT_FILENO) && options->format == FORMAT_TABLE;
	/* What is no screen is not looked at again and again, unless it is asked for. */
	uint64_t left = options->count ? options->count : screen ? UINT64_MAX : 1;

	bool clears = screen && can_clear(), runs, again = false;
	struct watching watching;

	(void)argc;
	(void)argv;
	if (options->sort)
		sort = find_sort(options->sort);
	for (;;) {
		runs = carrefour_show(&watching);
		look_at_all(&watching);
		output_begin(options->format);
		if (clears)
			fputs(CLEAR, stdout);
		else if (options->format == FORMAT_TABLE && again)
			putchar('\n');
		again = true;
		if (options->format == FORMAT_TABLE)
			print_head(&watching, runs);
		show(runs, rows_that_fit(clears));
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
	{ "sort", 0, "BY", "local, imbalance, moves, samples, at-home or memory:\nthe worst first, instead of by id",
	  OPTION_TEXT, OPTION(sort) },
	{ "seconds", 0, "N", "refresh every N seconds, instead of every 2", RIGHT_COUNT, OPTION(seconds) },
	{ "count", 0, "N", "end after N tables", RIGHT_COUNT, OPTION(count) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_top = {
	.name = "top",
	.arguments = "",
	.summary = "all VMs, again and again: accesses, and what carrefourd does",
	.options = options_top,
	.help =
"LOCAL is the share of the accesses to memory that is as near to the CPU as it\n"
"can be. IMBALANCE is how unequal the load of the nodes is. MOVES counts what\n"
"carrefourd moved in its last period, MOVED is what it has moved since it watches\n"
"the VM. STATE is what it did in that period, or why there are no samples. Ctrl-C\n"
"ends top; if the output is no terminal, it ends after one table. --json prints a\n"
"document for each refresh.\n"
"\n"
"Examples:\n"
"  xl numa-policy top\n"
"  xl numa-policy top --sort local\n"
"  xl numa-policy top --raw --count 60 --seconds 1 >guests.txt\n"
"  xl numa-policy top --json --count 5 | jq '.domains[] | .local_percent'\n",
	.run = run,
};
