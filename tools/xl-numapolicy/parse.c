/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads options by the table of the command; what another command has is refused with its name. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "help.h"
#include "parse.h"

#define OPTIONS_MAX 32
#define OWNERS_TOLD 3	/* commands that a refusal names as those which have an option */
#define HELP 255	/* getopt's value of --help; of -h it is the letter */
#define FIRST 256	/* getopt's values of a table's options; those below are letters */

struct parsing {
	const struct command *command;
	const char *name;
	struct options options;
	bool given[OPTIONS_MAX];	/* by index in the table */
};

static void *place(struct parsing *p, const struct option_spec *spec)
{
	return (char *)&p->options + spec->offset;
}

static void store(struct parsing *p, unsigned int i, const char *value)
{
	const struct option_spec *spec = &p->command->options[i];
	unsigned long long number;

	p->given[i] = true;
	switch (spec->kind) {
	case OPTION_FLAG:
		*(bool *)place(p, spec) = true;
		break;
	case OPTION_TEXT:
		if (spec->characters && value[strspn(value, spec->characters)] &&
		    !(spec->word && !strcmp(value, spec->word)))
			die_usage(p->name, "'%s' is no value for --%s; give %s", value, spec->name, spec->right);
		*(const char **)place(p, spec) = value;
		break;
	case OPTION_NUMBER:
		/* What does not fit becomes the largest number. */
		number = strtoull(value, NULL, 10);
		if (!*value || value[strspn(value, "0123456789")] || number < 1 || number > spec->most)
			die_usage(p->name, "'%s' is no value for --%s; give %s", value, spec->name, spec->right);
		*(uint64_t *)place(p, spec) = number;
		break;
	case OPTION_SWITCH:
		*(int *)place(p, spec) = spec->value;
		break;
	}
}

/* The table's index of a switch or of an option's letter or name; -1: there is none. */
static int find(const struct option_spec *table, const char *name, char letter)
{
	unsigned int i;

	for (i = 0; table[i].name; i++)
		if ((name && !strcmp(table[i].name, name)) || (letter && table[i].letter == letter))
			return i;
	return -1;
}

/* "record and top": the commands that have it; returns how many. */
static unsigned int owners(char *text, size_t size, const char *name, char letter)
{
	const struct command *last = NULL;
	const struct command *const *c;
	unsigned int nr = 0;
	size_t used = 0;

	*text = '\0';
	for (c = commands; *c; c++) {
		if (find((*c)->options, name, letter) < 0)
			continue;
		nr++;
		if (last)
			used += snprintf(text + used, size - used, "%s%s", used ? ", " : "", last->name);
		last = *c;
	}
	if (last)
		snprintf(text + used, size - used, "%s%s", used ? " and " : "", last->name);
	return nr;
}

/* What is no switch of this command, but looks like one, or is one of another. */
static void check_word(const struct parsing *p, const char *word)
{
	const struct option_spec *spec;
	char list[256];
	size_t used = 0;

	for (spec = p->command->options; spec->name; spec++)
		if (spec->kind == OPTION_SWITCH)
			used += snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", spec->name);
	if (used && *word == '+')
		die_usage(p->name, "no switch '%s'; there are %s", word, list);
	if ((*word == '+' || *word == '-') && owners(list, sizeof(list), word, 0))
		die_usage(p->name, "'%s' is a switch of %s only", word, list);
}

/* Switches are no options in getopt's sense: takes them out, whatever their place. */
static void take_switches(struct parsing *p, int *argc, char **argv)
{
	const struct option_spec *table = p->command->options;
	int from, to = 1, other[OPTIONS_MAX], i;

	memset(other, -1, sizeof(other));
	for (from = 1; from < *argc && strcmp(argv[from], "--"); from++) {
		int found = find(table, argv[from], 0);

		if (found < 0 || table[found].kind != OPTION_SWITCH) {
			check_word(p, argv[from]);
			argv[to++] = argv[from];
			continue;
		}
		for (i = 0; i < OPTIONS_MAX && table[i].name; i++)
			if (i != found && p->given[i] && table[i].kind == OPTION_SWITCH &&
			    table[i].offset == table[found].offset)
				die_usage(p->name, "'%s' and '%s' exclude each other; give one of them", table[i].name,
					  table[found].name);
		store(p, found, NULL);
	}
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
}

/* argv[optind - 1] is no option of this command, or is not written as one. */
static void __attribute__((noreturn)) refuse_option(const struct parsing *p, const char *word)
{
	char list[128], name[64];
	bool is_letter = optopt && optopt < HELP;
	unsigned int nr;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	if (optopt >= HELP)
		die_usage(p->name, "option '%s' takes no value", name);
	if (is_letter)
		snprintf(name, sizeof(name), "-%c", optopt);
	nr = owners(list, sizeof(list), is_letter ? NULL : name + 2, is_letter ? optopt : 0);
	if (nr > OWNERS_TOLD)
		die_usage(p->name, "'%s' is no option of %s", name, p->command->name);
	if (nr)
		die_usage(p->name, "'%s' is an option of %s only", name, list);
	die_usage(p->name, "unknown option '%s'", is_letter ? name : word);
}

/* getopt's two lists, of what no switch is. */
static void fill_known(const struct option_spec *table, struct option *known, char *letters)
{
	unsigned int i;

	/* The colon: getopt says nothing, and tells a missing value apart. */
	letters += sprintf(letters, ":h");
	*known++ = (struct option){ "help", no_argument, NULL, HELP };
	for (i = 0; table[i].name; i++) {
		if (table[i].kind == OPTION_SWITCH)
			continue;
		*known++ = (struct option){ table[i].name, table[i].argument ? required_argument : no_argument, NULL, FIRST + i };
		if (table[i].letter)
			*letters++ = table[i].letter;
	}
	*letters = '\0';
	*known = (struct option){ NULL, 0, NULL, 0 };
}

static void check_needs(const struct parsing *p)
{
	const struct option_spec *table = p->command->options;
	unsigned int i;

	for (i = 0; table[i].name; i++)
		if (p->given[i] && table[i].needs && !p->given[find(table, table[i].needs, 0)])
			die_usage(p->name, "--%s needs --%s", table[i].name, table[i].needs);
}

struct options parse_options(const struct command *command, const char *name, int *argc, char ***argv)
{
	struct parsing p = { .command = command, .name = name };
	struct option known[OPTIONS_MAX + 2];
	char letters[OPTIONS_MAX + 4];
	int c;

	take_switches(&p, argc, *argv);
	fill_known(command->options, known, letters);
	while ((c = getopt_long(*argc, *argv, letters, known, NULL)) != -1) {
		if (c == 'h' || c == HELP) {
			help_command(command);
			output_end();
			exit(EXIT_SUCCESS);
		}
		if (c == ':')
			die_usage(name, "option '%s' needs a value", (*argv)[optind - 1]);
		if (c == '?')
			refuse_option(&p, (*argv)[optind - 1]);
		store(&p, c < FIRST ? find(command->options, NULL, c) : c - FIRST, optarg);
	}
	if (p.options.json && p.options.raw)
		die_usage(name, "--json and --raw exclude each other");
	check_needs(&p);
	p.options.format = p.options.json ? FORMAT_JSON : p.options.raw ? FORMAT_RAW : FORMAT_TABLE;
	*argc -= optind;
	*argv += optind;
	return p.options;
}
