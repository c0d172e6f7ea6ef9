/* SPDX-License-Identifier: GPL-2.0-only */
/* What a subcommand is. */
#ifndef COMMAND_H
#define COMMAND_H

#include "cmd/options.h"

struct command {
	const char *name;
	const char *arguments;
	const char *summary;
	const struct option_spec *options;
	void (*print_words)(void);	/* NULL, or the part of the help with the words that it takes */
	const char *help;	/* what there is to say beyond the options, examples */
	bool offline;		/* needs no Xen */
	int min_arguments, max_arguments;	/* max < 0: any number */
	/* Returns if all went well; argv holds the arguments alone. */
	void (*run)(const struct options *options, int argc, char **argv);
};

extern const struct command cmd_list, cmd_show, cmd_top, cmd_watch, cmd_set, cmd_rebalance, cmd_compact, cmd_evacuate,
	cmd_where, cmd_explain, cmd_record, cmd_replay;

/* All of them, in the order of the help; NULL ends it. */
extern const struct command *const commands[];

/* Moves a domain's memory and says what became of it; does not return when stopped. */
void rebalance(const struct options *options, const struct domain *domain);
/* The same for memory that is to be mapped by 2 MiB; others may follow, up to the last one. */
void compact(const struct options *options, const struct domain *domain, bool last);
/* Exits with the reason if its memory cannot be moved whatever its policy is. */
void check_movable(const struct domain *domain);

#endif
