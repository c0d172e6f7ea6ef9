/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "replay/options.h"

#define EXIT_TROUBLE 2	/* as of diff(1) */

static const char program[] = "carrefour-replay";
static int trouble = EXIT_FAILURE;

void die(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(trouble);
}

static void help(void)
{
	printf("Usage: %s [OPTION]... TRACE\n\n"
	       "What carrefourd decides for recorded samples: a line a decision. TRACE is a file,\n"
	       "or - for standard input.\n\n"
	       "Options:\n"
	       "  -a, --advise          print what 'auto' would choose, instead of decisions\n"
	       "  -c, --config FILE     decide by this configuration, not by that of the trace\n"
	       "  -d, --domain ID       print this domain only; all share the host's budget\n"
	       "  -k, --check           compare with the decisions that were recorded, print what\n"
	       "                        differs; status 1 if anything does, 2 if it cannot\n"
	       "  -m, --metrics FILE    write metrics of the whole trace, as for Prometheus; - is\n"
	       "                        standard output\n"
	       "  -o, --output FILE     write the trace with these decisions to FILE\n"
	       "  -p, --periods         print a line for each period of a domain, too\n"
	       "  -V, --version         show the version\n"
	       "  -h, --help            show this help\n\n"
	       "Examples:\n"
	       "  %s --periods db1.trace\n"
	       "  %s --advise db1.trace\n"
	       "  %s --config new.conf --check db1.trace\n\n"
	       "The manual is carrefour-replay(1), which has the format of traces.\n",
	       program, program, program, program);
}

static const struct option known[] = {
	{ "advise", no_argument, NULL, 'a' },
	{ "config", required_argument, NULL, 'c' },
	{ "domain", required_argument, NULL, 'd' },
	{ "check", no_argument, NULL, 'k' },
	{ "metrics", required_argument, NULL, 'm' },
	{ "output", required_argument, NULL, 'o' },
	{ "periods", no_argument, NULL, 'p' },
	COMMAND_OPTIONS
};
static const struct command command = {
	.name = program, .version = VERSION, .letters = COMMAND_LETTERS "ac:d:km:o:p", .options = known, .help = help,
};

static long parse_domain(const char *text)
{
	unsigned long id = strtoul(text, NULL, 10);

	if (!*text || text[strspn(text, "0123456789")] || id > UINT16_MAX)
		command_refuse(&command, "'%s' is no domain id; give a number from 0 to %d", text, UINT16_MAX);
	return id;
}

struct replay_options parse_options(int argc, char **argv)
{
	struct replay_options o = { .domain = -1 };
	int c;

	while ((c = command_option(&command, argc, argv)) != -1)
		switch (c) {
		case 'a':
			o.advise = true;
			break;
		case 'c':
			o.config = command_file(&command, "--config", optarg);
			break;
		case 'd':
			o.domain = parse_domain(optarg);
			break;
		case 'k':
			o.check = true;
			trouble = EXIT_TROUBLE;
			break;
		case 'm':
			o.metrics = command_file(&command, "--metrics", optarg);
			break;
		case 'o':
			o.output = command_file(&command, "--output", optarg);
			break;
		case 'p':
			o.periods = true;
			break;
		}
	if (optind != argc - 1)
		command_refuse(&command, "%s", optind == argc ? "which trace?" : "one trace at a time");
	command_file(&command, "TRACE", argv[optind]);
	if (o.advise && o.check)
		command_refuse(&command, "--advise and --check exclude each other");
	return o;
}
