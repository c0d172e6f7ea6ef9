/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of a command: one table each, which says what they are called, what they take, where that goes and
 * what the help has to say. Parsing, refusals, the help and, from that, completion go by it.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/types.h"
#include "print/output.h"

struct options {
	bool json, raw, verbose;
	enum format format;		/* what json and raw come to */
	const char *nodes, *weights, *max_pause_us;	/* NULL if not given */
	struct dynamic dynamic;		/* +carrefour, -auto ... */
	bool rebalance, dry_run, quiet, strict, brief, policy, all, force;
	const char *sort, *to;
	uint64_t max_mb_per_s, seconds, count;	/* 0: not given */
};

enum option_kind {
	OPTION_FLAG,	/* takes nothing: a bool becomes true */
	OPTION_TEXT,	/* a const char * */
	OPTION_NUMBER,	/* a uint64_t from 1 to most */
	OPTION_SWITCH,	/* takes nothing, and is written without "--": an int becomes value */
};

struct option_spec {
	const char *name;	/* without "--"; NULL ends the table */
	char letter;		/* as in -q for --quiet; 0: none */
	const char *argument;	/* what the help calls its value; NULL: takes none */
	const char *help;	/* a line, or several */
	enum option_kind kind;
	size_t offset;		/* in struct options */
	const char *characters;	/* TEXT: has no others; NULL: may have any */
	const char *right;	/* what would be, where a value is wrong */
	const char *word;	/* TEXT: may be this all the same */
	uint64_t most;		/* NUMBER */
	int value;		/* SWITCH */
	const char *needs;	/* the option without which it means nothing */
};

#define OPTION(member) .offset = offsetof(struct options, member)
#define RIGHT_COUNT .kind = OPTION_NUMBER, .most = 86400, .right = "1 to 86400"	/* what a day has */

/* Faster than any memory; and what it is multiplied with must fit. */
#define RIGHT_RATE .kind = OPTION_NUMBER, .most = 1000000, .right = "MiB a second, 1 to 1000000"

#define OPTIONS_OF_OUTPUT \
	{ "json", .help = "print JSON, sizes in bytes", OPTION(json) }, \
	{ "raw", .help = "print plain columns, sizes in bytes", OPTION(raw) }, \
	{ "verbose", 'v', .help = "show the messages of libxl, on stderr", OPTION(verbose) }

#endif
