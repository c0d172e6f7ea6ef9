/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command lines of all programs have in common. */
#ifndef COMMAND_H
#define COMMAND_H

#include <getopt.h>

struct command {
	const char *name, *version, *letters;	/* the latter as getopt_long(3) takes them, with COMMAND_LETTERS before */
	const struct option *options;
	void (*help)(void);
};

/* The colon: getopt says nothing, and tells a missing value apart. */
#define COMMAND_LETTERS ":Vh"
#define COMMAND_OPTIONS \
	{ "version", no_argument, NULL, 'V' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }

/* The next option; -1: there are no more. Shows version and help, and refuses what is none; it does not return then. */
int command_option(const struct command *command, int argc, char **argv);

/* One line on stderr that leads to the help, and exit status 2. */
void command_refuse(const struct command *command, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* @name, unless it is empty, as "$UNSET" is: whatever opens it says less. */
const char *command_file(const struct command *command, const char *option, const char *name);

#endif
