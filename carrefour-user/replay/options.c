/* SPDX-License-Identifier: GPL-2.0-only */
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/options.h"

#define EXIT_USAGE 2
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

__attribute__((noreturn, format(printf, 1, 2)))
static void refuse(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; see '%s --help'\n", program);
	exit(EXIT_USAGE);
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

static long parse_domain(const char *text)
{
	unsigned long id = strtoul(text, NULL, 10);

	if (!*text || text[strspn(text, "0123456789")] || id > UINT16_MAX)
		refuse("'%s' is no domain id; give a number from 0 to %d", text, UINT16_MAX);
	return id;
}

/* As "$UNSET" is: whatever opens it says less. */
static const char *parse_file(const char *option, const char *name)
{
	if (!*name)
		refuse("'' is no file; name one for %s", option);
	return name;
}

struct replay_options parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "advise", no_argument, NULL, 'a' },
		{ "config", required_argument, NULL, 'c' },
		{ "domain", required_argument, NULL, 'd' },
		{ "check", no_argument, NULL, 'k' },
		{ "metrics", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "periods", no_argument, NULL, 'p' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct replay_options o = { .domain = -1 };
	int c;

	/* The colon: getopt says nothing, and tells a missing value apart. */
	while ((c = getopt_long(argc, argv, ":ac:d:km:o:pVh", known, NULL)) != -1)
		switch (c) {
		case 'a':
			o.advise = true;
			break;
		case 'c':
			o.config = parse_file("--config", optarg);
			break;
		case 'd':
			o.domain = parse_domain(optarg);
			break;
		case 'k':
			o.check = true;
			trouble = EXIT_TROUBLE;
			break;
		case 'm':
			o.metrics = parse_file("--metrics", optarg);
			break;
		case 'o':
			o.output = parse_file("--output", optarg);
			break;
		case 'p':
			o.periods = true;
			break;
		case 'V':
			printf("%s " VERSION "\n", program);
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case 'h':
			help();
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case ':':
			refuse("option '%s' needs a value", argv[optind - 1]);
		default:
			refuse("unknown option '%s'", argv[optind - 1]);
		}
	if (optind != argc - 1)
		refuse("%s", optind == argc ? "which trace?" : "one trace at a time");
	parse_file("TRACE", argv[optind]);
	if (o.advise && o.check)
		refuse("--advise and --check exclude each other");
	return o;
}
