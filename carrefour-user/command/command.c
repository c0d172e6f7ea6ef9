/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"

#define EXIT_USAGE 2

void command_refuse(const struct command *c, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", c->name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; see '%s --help'\n", c->name);
	exit(EXIT_USAGE);
}

int command_option(const struct command *c, int argc, char **argv)
{
	int option = getopt_long(argc, argv, c->letters, c->options, NULL);

	if (option == ':')
		command_refuse(c, "option '%s' needs a value", argv[optind - 1]);
	if (option == '?')
		command_refuse(c, "unknown option '%s'", argv[optind - 1]);
	if (option != 'V' && option != 'h')
		return option;
	if (option == 'V')
		printf("%s %s\n", c->name, c->version);
	else
		c->help();
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

const char *command_file(const struct command *c, const char *option, const char *name)
{
	if (!*name)
		command_refuse(c, "'' is no file; name one for %s", option);
	return name;
}
