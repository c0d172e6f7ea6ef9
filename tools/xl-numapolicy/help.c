/* SPDX-License-Identifier: GPL-2.0-only */
/* What help and --help print. */
#include <stdio.h>
#include <string.h>

#include "help.h"

#define TEXT_AT 23	/* the column where the text of an option begins */

static void print_option(const struct option_spec *option, const char *dashes)
{
	const char *text = option->help;
	int used, length;

	if (option->letter)
		used = printf("  -%c, ", option->letter);
	else
		used = printf("%*s", *dashes ? 6 : 2, "");
	used += printf("%s%s%s%s", dashes, option->name, option->argument ? " " : "",
		       option->argument ? option->argument : "");
	for (;;) {
		length = strcspn(text, "\n");
		printf("%*s%.*s\n", TEXT_AT - used, "", length, text);
		if (!text[length])
			break;
		text += length + 1;
		used = 0;
	}
}

static void print_switches(const struct option_spec *options)
{
	bool any = false;

	for (; options->name; options++) {
		if (options->kind != OPTION_SWITCH)
			continue;
		if (!any)
			printf("\nSwitches:\n");
		any = true;
		print_option(options, "");
	}
}

void help_command(const struct command *command)
{
	static const struct option_spec help[] = {
		{ "help", 'h', .help = "show this help" },
		{ NULL }
	};

	const struct option_spec *option;

	printf("Usage: xl numa-policy %s [OPTION]...%s%s\n\n%s: %s\n\nOptions:\n",
	       command->name, *command->arguments ? " " : "", command->arguments,
	       command->name, command->summary);
	for (option = command->options; option->name; option++)
		if (option->kind != OPTION_SWITCH)
			print_option(option, "--");
	print_option(help, "--");
	print_switches(command->options);
	if (command->print_words)
		command->print_words();
	printf("\n%s", command->help);
}

void help_all(void)
{
	const struct command *const *command;

	printf("Usage: xl numa-policy [COMMAND] [OPTION]... [ARGUMENT]...\n\n"
	       "Shows on which NUMA nodes the memory of VMs is, sets by which policy Xen puts it\n"
	       "there, and moves it.\n\n"
	       "Commands:\n");
	for (command = commands; *command; command++)
		printf("  %-9s %s\n", (*command)->name, (*command)->summary);
	printf("  %-9s %s\n\n", "help", "this text; help COMMAND: what it takes, and examples");
	printf("A VM is named by its name or its id. The command is list if you give none.\n"
	       "All commands but replay take --json and --raw. The manual is xl-numa-policy(1).\n");
}
