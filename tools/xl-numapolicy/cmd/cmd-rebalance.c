/* SPDX-License-Identifier: GPL-2.0-only */
/* rebalance: have the memory of a running domain follow its policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "base/pace.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "cmd/outcome.h"
#include "cmd/remedies.h"
#include "print/format.h"
#include "print/progress.h"

/* Large enough to cost nothing, small enough for a stop to be prompt: 16 MiB. */
#define STEP_PAGES 4096
/* With a limit: so many steps a second; Xen does not make them less than 2 MiB. */
#define STEPS_PER_SECOND 10

static void __attribute__((noreturn)) refuse_no_policy(const struct domain *domain)
{
	die("VM '%s' has policy none, which has no place for its memory; "
	    "'xl numa-policy set %s POLICY --rebalance' gives it another", domain_name(domain), domain_argument(domain));
}

static void __attribute__((noreturn)) refuse_small(const struct domain *domain, const char *policy)
{
	die("VM '%s' has policy %s, which places its memory by 4 KiB; 'xl numa-policy set %s round-2m --rebalance' "
	    "puts 2 MiB together, and keeps them", domain_name(domain), policy, domain_argument(domain));
}

static void check_step(enum result result, const struct domain *domain, bool compact)
{
	const char *name = domain_name(domain);
	struct policy policy;

	/* It may be another one by now. */
	if (result == RESULT_REFUSED && compact && backend_get(domain->id, &policy) == RESULT_OK && policy_divides(&policy))
		refuse_small(domain, policy.name);
	switch (result) {
	case RESULT_NO_POLICY:
		refuse_no_policy(domain);
	case RESULT_HAS_DEVICE:
		die("cannot move the memory of VM '%s': devices are or may be assigned to it "
		    "(passthrough), which would go on writing to the old pages; a restart of "
		    "the VM places its memory by the policy", name);
	case RESULT_REFUSED:
		die("cannot move the memory of VM '%s', which has shadow paging, altp2m, nested "
		    "guests, memory sharing or memory paging; a restart of the VM places its "
		    "memory by the policy", name);
	default:
		check_domain(result, domain, "move the memory of");
	}
}

void check_movable(const struct domain *domain)
{
	enum result result = backend_may_move(domain->id, false);

	if (result != RESULT_NO_POLICY)
		check_step(result, domain, false);
}

static unsigned int step_pages(uint64_t limit)
{
	uint64_t pages = limit / PAGE_BYTES / STEPS_PER_SECOND;

	if (!limit || pages > STEP_PAGES)
		return STEP_PAGES;
	return pages ? pages : 1;
}

static void add(struct moves *sum, const struct moves *step)
{
	sum->moved += step->moved;
	sum->there += step->there;
	sum->in_use += step->in_use;
	sum->unmovable += step->unmovable;
	sum->no_room += step->no_room;
	sum->late += step->late;
	sum->no_table += step->no_table;
	sum->claimed += step->claimed;
}

static enum result step(const struct outcome *outcome, uint64_t *gfn, uint64_t limit, struct moves *moves)
{
	if (outcome->leave)
		return backend_leave(outcome->domain.id, gfn, step_pages(limit), outcome->leave, moves);
	return backend_rebalance(outcome->domain.id, gfn, step_pages(limit), outcome->dry_run, outcome->compact, moves);
}

/* All of it, or until a signal. */
static enum result move(struct outcome *outcome, const struct options *options, bool one_of_many)
{
	uint64_t gfn = 0, limit = options->max_mb_per_s * MIB;
	struct progress progress;
	struct pace pace;

	pace_begin(&pace, limit);
	progress_begin(&progress, options->format, options->quiet,
		       outcome->dry_run, outcome->total);
	progress.name = outcome->domain.name;
	progress.whose = one_of_many ? domain_name(&outcome->domain) : NULL;
	while (gfn != REBALANCE_END && !outcome->signal) {
		struct moves moves = { 0 };
		enum result result = step(outcome, &gfn, limit, &moves);

		if (result != RESULT_OK) {
			progress_end(&progress);
			return result;
		}
		add(&outcome->moves, &moves);
		outcome->signal = pace_step(&pace, outcome->dry_run ? 0 :
					    moves.moved * PAGE_BYTES);
		progress_show(&progress, &outcome->moves, pace_elapsed(&pace));
	}
	progress_end(&progress);
	/* That came after the last step changes nothing. */
	if (gfn == REBALANCE_END)
		outcome->signal = 0;
	outcome->elapsed = pace_elapsed(&pace);
	return RESULT_OK;
}

enum result move_memory(struct outcome *outcome, const struct options *options, bool one_of_many)
{
	const struct domain *domain = &outcome->domain;
	struct policy before, now;
	struct usage usage;
	enum result result = backend_get(domain->id, &before);

	outcome->asks = "ask for the policy of";
	outcome->event = "result";
	outcome->dry_run = options->dry_run;
	if (result != RESULT_OK)
		return result;
	outcome->policy = before.name;
	if (!outcome->compact && !outcome->leave && !policy_places(&before) && !before.vnuma)
		return RESULT_NO_POLICY;
	if (outcome->compact && policy_divides(&before)) {
		outcome->asks = NULL;
		return RESULT_REFUSED;
	}
	outcome->asks = "ask for the memory of";
	result = backend_usage(domain->id, &usage);
	if (result != RESULT_OK)
		return result;
	outcome->total = usage_total(&usage);
	outcome->asks = NULL;
	result = move(outcome, options, one_of_many);
	if (result != RESULT_OK)
		return result;
	/* Xen goes by what holds at each step. */
	outcome->asks = "ask for the policy of";
	result = backend_get(domain->id, &now);
	if (result != RESULT_OK)
		return result;
	outcome->policy = now.name;
	outcome->policy_changed = !policy_same(&before, &now);
	outcome->complete = !outcome->signal;
	outcome->why = main_reason(&outcome->moves);
	return RESULT_OK;
}

static uint64_t bytes(uint64_t pages)
{
	return pages * PAGE_BYTES;
}

const char *signal_name(int signal)
{
	return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

static void print_text(const struct outcome *o)
{
	const struct moves *moves = &o->moves;
	char moved[NUMBER_TEXT], there[NUMBER_TEXT];

	printf("%s (id %u): ", domain_name(&o->domain), o->domain.id);
	format_bytes(moved, bytes(moves->moved));
	format_bytes(there, bytes(moves->there));
	if (o->compact && o->dry_run)
		printf("%s would be put together by 2 MiB, %s is to stay as it is\n", moved, there);
	else if (o->compact)
		printf("%s put together by 2 MiB in %.1f s, %s was to stay as it is\n", moved, o->elapsed / 1e9, there);
	else if (o->dry_run)
		printf("%s would move by %s, %s is there already\n", moved,
		       o->policy, there);
	else
		printf("%s moved by %s in %.1f s, %s was there already\n", moved,
		       o->policy, o->elapsed / 1e9, there);
	if (o->compact)
		print_remedies_of_compact(&o->domain, moves);
	else
		print_remedies(&o->domain, moves);
	if (o->policy_changed && !o->compact)
		printf("The policy was changed meanwhile, to %s: repeat the command "
		       "for what moved before\n", o->policy);
}

#define OUTCOME(key, cell, member) { "", key, cell, offsetof(struct outcome, member) }

const struct field outcome_fields[] = {
	OUTCOME("name", CELL_TEXT, domain.name),
	OUTCOME("id", CELL_NUMBER32, domain.id),
	OUTCOME("policy", CELL_TEXT, policy),
	OUTCOME("why", CELL_TEXT, why),
	OUTCOME("policy_changed", CELL_BOOL, policy_changed),
	OUTCOME("dry_run", CELL_BOOL, dry_run),
	OUTCOME("complete", CELL_BOOL, complete),
	OUTCOME("seconds", CELL_SECONDS, elapsed),
	OUTCOME("memory_bytes", CELL_BYTES, total),
	OUTCOME("moved_bytes", CELL_PAGES, moves.moved),
	OUTCOME("there_bytes", CELL_PAGES, moves.there),
	OUTCOME("in_use_bytes", CELL_PAGES, moves.in_use),
	OUTCOME("unmovable_bytes", CELL_PAGES, moves.unmovable),
	OUTCOME("no_room_bytes", CELL_PAGES, moves.no_room),
	OUTCOME("late_bytes", CELL_PAGES, moves.late),
	OUTCOME("no_table_bytes", CELL_PAGES, moves.no_table),
	OUTCOME("claimed_bytes", CELL_PAGES, moves.claimed),
};

const unsigned int nr_outcome_fields = NR(outcome_fields);

void print_outcome(const struct outcome *o)
{
	struct field all[NR(outcome_fields) + 1] = { OUTCOME("event", CELL_TEXT, event) };

	memcpy(all + 1, outcome_fields, sizeof(outcome_fields));
	print_object(all, NR(all), o);
}

static void print_raw(const struct outcome *o)
{
	struct table *table = table_of_fields("rebalance", outcome_fields, NR(outcome_fields));

	table_row(table);
	put_fields(table, outcome_fields, NR(outcome_fields), o);
	table_print(table, true);
	table_free(table);
}

/* Does not return if not all of it is where the policy wants it. */
static void be_strict(const struct outcome *o)
{
	/* Some of it can never be part of 2 MiB: that is no failure. */
	uint64_t stays = moves_left(&o->moves) - (o->compact ? o->moves.unmovable : 0);
	char size[NUMBER_TEXT];

	if (stays)
		die("%s of VM '%s' stays where it is, which --strict makes a failure", format_bytes(size, bytes(stays)),
		    domain_name(&o->domain));
	if (o->policy_changed && !o->compact)
		die("the policy of VM '%s' was changed meanwhile, which --strict makes a failure; repeat the command",
		    domain_name(&o->domain));
}

/* last: nothing is printed after it. */
static void run_and_tell(const struct options *options, const struct domain *domain, bool compact, bool last)
{
	struct outcome outcome = { .domain = *domain, .compact = compact };
	enum result result = move_memory(&outcome, options, false);

	/* What was asked before and after a move has its own words. */
	if (outcome.asks && result != RESULT_NO_POLICY)
		check_domain(result, domain, outcome.asks);
	check_step(result, domain, compact);
	output_begin(options->format == FORMAT_RAW ? FORMAT_RAW : FORMAT_TABLE);
	if (options->format == FORMAT_JSON)
		print_outcome(&outcome);
	else if (options->format == FORMAT_RAW)
		print_raw(&outcome);
	else
		print_text(&outcome);
	if (last)
		output_end();
	else
		output_check();

	if (outcome.signal) {
		say("stopped by %s at %u%%; 'xl numa-policy %s %s' goes on",
		    signal_name(outcome.signal),
		    permille_seen(&outcome.moves, outcome.total) / 10,
		    compact ? "compact" : "rebalance", domain_argument(domain));
		exit(128 + outcome.signal);
	}
	if (options->strict)
		be_strict(&outcome);
}

void rebalance(const struct options *options, const struct domain *domain)
{
	run_and_tell(options, domain, false, true);
}

void compact(const struct options *options, const struct domain *domain, bool last)
{
	run_and_tell(options, domain, true, last);
}

static void run(const struct options *options, int argc, char **argv)
{
	struct domain domain = { 0 };

	if (options->all && argc)
		die_usage("rebalance", "'%s' and --all exclude each other; give one of them", argv[0]);
	if (!options->all && !argc)
		die_usage("rebalance", "no VM; give one, or --all");
	if (options->all) {
		rebalance_all(options);
		return;
	}
	find_guest(argv[0], &domain);
	rebalance(options, &domain);
	free(domain.name);
}

static const struct option_spec options_rebalance[] = {
	{ "all", .help = "of all VMs, one after the other", OPTION(all) },
	{ "max-mb-per-s", 0, "N", "move no more than N MiB a second", RIGHT_RATE, OPTION(max_mb_per_s) },
	{ "dry-run", .help = "move nothing, say how much would move", OPTION(dry_run) },
	{ "strict", .help = "status 1 if any of it stays where it is", OPTION(strict) },
	{ "quiet", 'q', .help = "show no progress", OPTION(quiet) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_rebalance = {
	.name = "rebalance",
	.arguments = "DOM|--all",
	.summary = "move the memory of a running VM to where its policy wants it",
	.options = options_rebalance,
	.help =
"The VM goes on running. Memory stays where it is, and is counted, if others use\n"
"it, as for I/O through dom0, or if its node is full. The exit status is 0 all the\n"
"same, but 1 with --strict. Ctrl-C stops between two steps; the same command then\n"
"goes on. --json prints an object a line: progress, and at last the result. --all\n"
"leaves out VMs with policy none or virtual NUMA nodes, goes on where one VM cannot\n"
"be moved, and prints a row for each; --strict is for all of them.\n"
"\n"
"Examples:\n"
"  xl numa-policy rebalance guest1 --dry-run\n"
"  xl numa-policy rebalance guest1 --max-mb-per-s 200\n"
"  xl numa-policy rebalance guest1 --json -q | jq .moved_bytes\n"
"  xl numa-policy rebalance --all --strict\n",
	.min_arguments = 0,
	.max_arguments = 1,
	.run = run,
};
