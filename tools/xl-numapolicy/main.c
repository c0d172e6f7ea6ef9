/* SPDX-License-Identifier: GPL-2.0-only */
/* xl numa-policy: see, set and change on which NUMA nodes the memory of VMs is. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/check.h"
#include "ask/connection.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "help.h"
#include "parse.h"

const struct command *const commands[] = {
	&cmd_list, &cmd_show, &cmd_top, &cmd_watch, &cmd_set, &cmd_rebalance, &cmd_compact, &cmd_evacuate, &cmd_where,
	&cmd_explain, &cmd_record, &cmd_replay, NULL
};

static const struct command *find_command(const char *name)
{
	const struct command *const *command;
	char list[128];
	size_t used = 0;

	for (command = commands; *command; command++) {
		if (!strcmp(name, (*command)->name))
			return *command;
		used += snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", (*command)->name);
	}
	die_usage(NULL, "no command '%s'; there are %s and help", name, list);
}

/* What needs neither Xen nor a command. */
static bool only_tells(int argc, char **argv)
{
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("xl-numa-policy " VERSION);
	} else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		if (argc > 3)
			die_usage(NULL, "help takes one command");
		if (argc == 3)
			help_command(find_command(argv[2]));
		else
			help_all();
	} else {
		return false;
	}
	output_end();
	return true;
}

int main(int argc, char **argv)
{
	const struct command *command = &cmd_list;
	const char *name = NULL;
	struct options options;

	/* For the width of names; numbers keep their point. */
	setlocale(LC_CTYPE, "");

	if (argc > 1 && only_tells(argc, argv))
		return EXIT_SUCCESS;
	/* Without a command but with its options: list. */
	if (argc > 1 && argv[1][0] != '-') {
		command = find_command(argv[1]);
		name = command->name;
		argc--;
		argv++;
	}

	options = parse_options(command, name, &argc, &argv);
	if (argc < command->min_arguments ||
	    (command->max_arguments >= 0 && argc > command->max_arguments))
		die_usage(command->name, "%s; it takes %s",
			  argc < command->min_arguments ? "an argument is missing" :
			  "an argument too many",
			  *command->arguments ? command->arguments : "none");

	if (!command->offline)
		check(backend_open(options.verbose), "talk to Xen");
	command->run(&options, argc, argv);
	if (!command->offline)
		backend_close();
	return EXIT_SUCCESS;
}
