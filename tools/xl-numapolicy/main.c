/*
 * xl numa-policy: see, set and change on which NUMA nodes the memory of guests is.
 * Here is the table of subcommands and what their command lines have in common.
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "errors.h"

static const struct command *const commands[] = {
	&cmd_list, &cmd_show, &cmd_top, &cmd_set, &cmd_rebalance, &cmd_where, &cmd_explain, &cmd_record, &cmd_replay,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	die_usage(NULL, "no command '%s'; there are list, show, top, set, rebalance, where, "
		  "explain, record, replay and help", name);
}

static void print_policies(void)
{
	static const struct {
		const char *name, *meaning;
	} text[] = {
		{ "none", "wherever Xen finds room, as without this feature" },
		{ "round-4k", "the home nodes in turn, by 4 KiB" },
		{ "round-2m", "the home nodes in turn, by 2 MiB" },
		{ "round-1g", "the home nodes in turn, by 1 GiB" },
		{ "first-touch", "the node of the vCPU that touches a page first" },
	};
	const char *name;
	unsigned int i, j;

	printf("\nPolicies:\n");
	for (i = 0; (name = backend_policy_name(i)); i++) {
		const char *meaning = "";

		for (j = 0; j < sizeof(text) / sizeof(*text); j++)
			if (!strcmp(name, text[j].name))
				meaning = text[j].meaning;
		printf("  %-12s %s\n", name, meaning);
	}
}

static void help_command(const struct command *command)
{
	printf("Usage: xl numa-policy %s [OPTION]...%s%s\n\n%s: %s\n\nOptions:\n",
	       command->name, *command->arguments ? " " : "", command->arguments,
	       command->name, command->summary);
	if (command->sets_policy)
		printf("      --nodes LIST     home nodes, like 0-3,^1\n"
		       "      --weights W:W... a weight of 1 to 255 for each home node,\n"
		       "                       lowest node first\n"
		       "      --max-pause-us N when memory moves, keep no writer longer\n"
		       "      --rebalance      move the memory that it has, too\n");
	if (command->moves)
		printf("      --max-mb-per-s N move no more than N MiB a second\n"
		       "%s"
		       "  -q, --quiet          show no progress\n",
		       command->sets_policy ? "" :
		       "      --dry-run        move nothing, say how much would move\n");
	if (command->records)
		printf("      --seconds N      end it after so long\n");
	if (command->refreshes)
		printf("      --seconds N      refresh that often, instead of every 2 seconds\n"
		       "      --count N        end after so many times\n");
	if (!command->offline)
		printf("      --json           print JSON, with exact numbers\n"
		       "      --raw            print plain columns, with exact numbers\n"
		       "  -v, --verbose        show what libxl has to say, on stderr\n");
	printf("  -h, --help           show this help\n");
	if (command->sets_policy)
		print_policies();
	printf("\n%s", command->help);
}

static void help(void)
{
	unsigned int i;

	printf("Usage: xl numa-policy [COMMAND] [OPTION]... [ARGUMENT]...\n\n"
	       "On which NUMA nodes the memory of guests is, and by which policy it is put\n"
	       "there.\n\n"
	       "Commands:\n");
	for (i = 0; i < NR_COMMANDS; i++)
		printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
	printf("  %-9s %s\n\n", "help", "this text; help COMMAND: what it takes, and examples");
	printf("A domain is given by its name or its id. Without a command: list.\n"
	       "All that ask Xen take --json and --raw. The manual is xl-numa-policy(1).\n");
}

/* What a day has, and nobody needs more of. */
static uint64_t parse_count(const struct command *command, const char *option, const char *text)
{
	const unsigned long max = 86400;
	unsigned long n = strtoul(text, NULL, 10);

	if (!*text || text[strspn(text, "0123456789")] || n < 1 || n > max)
		die_usage(command->name, "'%s' is no value for --%s; give 1 to %lu", text, option, max);
	return n;
}

static uint64_t parse_mb_per_s(const struct command *command, const char *text)
{
	/* Faster than any memory; and what it is multiplied with must fit. */
	const unsigned long max = 1000000;
	unsigned long n = strtoul(text, NULL, 10);

	if (!*text || text[strspn(text, "0123456789")] || n < 1 || n > max)
		die_usage(command->name, "'%s' is no rate; give MiB a second, 1 to %lu",
			  text, max);
	return n;
}

/* The options that only some commands have. */
static void check_options(const struct command *command,
			  const struct options *options)
{
	if (command->offline && (options->format != FORMAT_TABLE || options->verbose))
		die_usage(command->name, "%s is no option of %s", options->verbose ? "--verbose" :
			  options->format == FORMAT_JSON ? "--json" : "--raw", command->name);
	if ((options->nodes || options->weights || options->max_pause_us || options->rebalance) &&
	    !command->sets_policy)
		die_usage(command->name, "--%s is an option of set only",
			  options->nodes ? "nodes" :
			  options->weights ? "weights" :
			  options->max_pause_us ? "max-pause-us" : "rebalance");
	if (options->dry_run && command->sets_policy)
		die_usage(command->name, "--dry-run is an option of rebalance only, as it "
			  "goes by the policy that is set");
	if ((options->max_mb_per_s || options->dry_run || options->quiet) &&
	    !command->moves)
		die_usage(command->name, "--%s is an option of rebalance only",
			  options->dry_run ? "dry-run" :
			  options->quiet ? "quiet" : "max-mb-per-s");
	if (options->seconds && !command->records && !command->refreshes)
		die_usage(command->name, "--seconds is an option of record and top only");
	if (options->count && !command->refreshes)
		die_usage(command->name, "--count is an option of top only");
	if ((options->max_mb_per_s || options->quiet) && command->sets_policy &&
	    !options->rebalance)
		die_usage(command->name, "--%s needs --rebalance",
			  options->quiet ? "quiet" : "max-mb-per-s");
}

/* +carrefour and -carrefour are no options in getopt's sense: takes them out, whatever their place. */
static struct dynamic take_switches(const struct command *command, int *argc, char **argv)
{
	struct dynamic dynamic = { 0 };
	int from, to = 1;

	for (from = 1; from < *argc; from++) {
		const char *word = argv[from];
		bool on = *word == '+';

		if (!strcmp(word, "--"))
			break;
		if (*word && !strcmp(word + 1, "carrefour") && (on || *word == '-'))
			dynamic.carrefour = on ? SWITCH_ON : SWITCH_OFF;
		else if (*word && !strcmp(word + 1, "auto") && (on || *word == '-'))
			dynamic.automatic = on ? SWITCH_ON : SWITCH_OFF;
		else if (!strcmp(word, "+auto=advise"))
			dynamic.automatic = SWITCH_ADVISE;
		else if (on && command->sets_policy)
			die_usage(command->name, "no switch '%s'; there are +carrefour, -carrefour, +auto, +auto=advise and "
				  "-auto", word);
		else
			argv[to++] = argv[from];
	}
	if ((dynamic.carrefour || dynamic.automatic) && !command->sets_policy)
		die_usage(command->name, "+ and - switch what set sets");
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
	return dynamic;
}

/* Leaves the arguments alone at argv[*first] and beyond. */
static struct options parse_options(const struct command *command, int argc,
				    char **argv, int *first)
{
	enum {
		OPT_JSON = 256, OPT_RAW, OPT_NODES, OPT_WEIGHTS, OPT_MAX_PAUSE_US, OPT_REBALANCE,
		OPT_MAX_MB_PER_S, OPT_DRY_RUN, OPT_SECONDS, OPT_COUNT
	};
	static const struct option known[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		{ "raw", no_argument, NULL, OPT_RAW },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "nodes", required_argument, NULL, OPT_NODES },
		{ "weights", required_argument, NULL, OPT_WEIGHTS },
		{ "max-pause-us", required_argument, NULL, OPT_MAX_PAUSE_US },
		{ "rebalance", no_argument, NULL, OPT_REBALANCE },
		{ "max-mb-per-s", required_argument, NULL, OPT_MAX_MB_PER_S },
		{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
		{ "quiet", no_argument, NULL, 'q' },
		{ "seconds", required_argument, NULL, OPT_SECONDS },
		{ "count", required_argument, NULL, OPT_COUNT },
		{ NULL, 0, NULL, 0 }
	};
	struct options options = { .format = FORMAT_TABLE };
	bool json = false, raw = false;
	int c;

	/* The colon: getopt says nothing, and tells a missing value apart. */
	while ((c = getopt_long(argc, argv, ":hqv", known, NULL)) != -1) {
		switch (c) {
		case OPT_JSON:
			json = true;
			options.format = FORMAT_JSON;
			break;
		case OPT_RAW:
			raw = true;
			options.format = FORMAT_RAW;
			break;
		case OPT_NODES:
			options.nodes = optarg;
			break;
		case OPT_WEIGHTS:
			options.weights = optarg;
			break;
		case OPT_MAX_PAUSE_US:
			options.max_pause_us = optarg;
			break;
		case OPT_REBALANCE:
			options.rebalance = true;
			break;
		case OPT_MAX_MB_PER_S:
			options.max_mb_per_s = parse_mb_per_s(command, optarg);
			break;
		case OPT_DRY_RUN:
			options.dry_run = true;
			break;
		case OPT_SECONDS:
			options.seconds = parse_count(command, "seconds", optarg);
			break;
		case OPT_COUNT:
			options.count = parse_count(command, "count", optarg);
			break;
		case 'q':
			options.quiet = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'h':
			help_command(command);
			output_end();
			exit(EXIT_SUCCESS);
		case ':':
			die_usage(command->name, "option '%s' needs a value",
				  argv[optind - 1]);
		default:
			if (optopt && optopt < OPT_JSON)
				die_usage(command->name, "unknown option '-%c'",
					  optopt);
			die_usage(command->name, "unknown option '%s'",
				  argv[optind - 1]);
		}
	}
	if (json && raw)
		die_usage(command->name, "--json and --raw exclude each other");
	check_options(command, &options);
	*first = optind;
	return options;
}

int main(int argc, char **argv)
{
	const struct command *command = &cmd_list;
	struct dynamic dynamic;
	struct options options;
	int first;

	/* For the width of names; numbers keep their point. */
	setlocale(LC_CTYPE, "");

	if (argc > 1 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
			 !strcmp(argv[1], "-h"))) {
		if (argc > 3)
			die_usage(NULL, "help takes one command");
		if (argc == 3)
			help_command(find_command(argv[2]));
		else
			help();
		output_end();
		return EXIT_SUCCESS;
	}
	/* Without a command but with its options: list. */
	if (argc > 1 && argv[1][0] != '-') {
		command = find_command(argv[1]);
		argc--;
		argv++;
	}

	dynamic = take_switches(command, &argc, argv);
	options = parse_options(command, argc, argv, &first);
	options.dynamic = dynamic;
	argc -= first;
	argv += first;
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
