/* SPDX-License-Identifier: GPL-2.0-only */
/* rebalance --all: one VM after the other; one that cannot be moved does not keep the others from it. */
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/guest.h"
#include "cmd/outcome.h"

struct row {
	struct outcome outcome;
	uint64_t moved, there, stays;	/* 4 KiB pages */
	bool tried;
	char why[256];
};

#define ROW(title, cell, member) { title, "", cell, offsetof(struct row, member) }
#define TRIED(title, cell, member) { title, "", cell, offsetof(struct row, member), IF(struct row, tried) }

/* For people. Programs get what rebalance says of one VM. */
static const struct field fields[] = {
	ROW("NAME", CELL_TEXT, outcome.domain.name),
	ROW("ID", CELL_NUMBER32, outcome.domain.id),
	ROW("POLICY", CELL_TEXT, outcome.policy),
	TRIED("MOVED", CELL_PAGES, moved),
	TRIED("THERE", CELL_PAGES, there),
	TRIED("STAYS", CELL_PAGES, stays),
	ROW("WHY", CELL_TEXT, outcome.why),
};

/* False: it went away, or has no policy to go by. */
static bool move_one(struct row *row, const struct options *options)
{
	struct outcome *o = &row->outcome;
	struct policy policy;
	enum result result = backend_get(o->domain.id, &policy);

	if (result == RESULT_NO_FEATURE)
		check(result, "");
	if (result == RESULT_NO_DOMAIN || result == RESULT_REFUSED || (result == RESULT_OK && !policy_places(&policy)))
		return false;
	if (result == RESULT_OK) {
		o->policy = policy.name;
		result = move_memory(o, options, true);
	}
	if (result == RESULT_NO_DOMAIN)
		return false;
	row->tried = result == RESULT_OK;
	row->moved = o->moves.moved;
	row->there = o->moves.there;
	row->stays = moves_left(&o->moves);
	if (!row->tried) {
		strncpy(row->why, refusal(result), sizeof(row->why) - 1);
		o->why = row->why;
	}
	if (options->format == FORMAT_JSON)
		print_outcome(o);
	return true;
}

static void print_rows(const struct row *rows, unsigned int nr)
{
	bool raw = output_format() == FORMAT_RAW;
	const struct field *chosen = raw ? outcome_fields : fields;
	unsigned int i, nr_chosen = raw ? nr_outcome_fields : NR(fields);
	struct table *table = table_of_fields("rebalance", chosen, nr_chosen);

	for (i = 0; i < nr; i++) {
		table_row(table);
		put_fields(table, chosen, nr_chosen, raw ? (const void *)&rows[i].outcome : &rows[i]);
	}
	table_print(table, true);
	table_free(table);
}

static unsigned int count_bad(const struct row *rows, unsigned int nr)
{
	unsigned int i, bad = 0;

	for (i = 0; i < nr; i++)
		bad += !rows[i].tried || rows[i].stays || rows[i].outcome.policy_changed;
	return bad;
}

void rebalance_all(const struct options *options)
{
	struct domain *domains;
	struct row *rows;
	unsigned int i, nr, shown = 0, bad;
	int signal = 0;

	check(backend_domains(&domains, &nr), "list the VMs");
	rows = check_alloc(calloc(nr + 1, sizeof(*rows)));
	output_begin(options->format == FORMAT_RAW ? FORMAT_RAW : FORMAT_TABLE);
	for (i = 0; i < nr; i++) {
		rows[shown] = (struct row){ .outcome.domain = domains[i] };
		if (!signal && !domains[i].pv && !domains[i].dying && move_one(&rows[shown], options))
			signal = rows[shown++].outcome.signal;
		else
			free(domains[i].name);
	}
	free(domains);
	if (options->format != FORMAT_JSON)
		print_rows(rows, shown);
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
		die("memory of %u VM%s stays where it is, or its policy was changed meanwhile, which --strict makes a failure",
		    bad, bad == 1 ? "" : "s");
}
