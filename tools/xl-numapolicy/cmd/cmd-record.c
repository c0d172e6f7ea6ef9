/* SPDX-License-Identifier: GPL-2.0-only */
/* record: a trace of samples and decisions, for carrefour-replay(1). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/carrefour.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"

static uint64_t seconds;	/* 0: until a signal */
static int signals;
static int file = -1;		/* until it holds what was asked for */
static const char *file_name;

/* SIGINT and SIGTERM end the recording, not the program; so does the daemon, when it cannot go on with it. */
static void wait_for_end(int fd)
{
	struct pollfd ends[] = { { .fd = fd, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	int got;

	do
		got = poll(ends, 2, seconds ? (int)seconds * 1000 : -1);
	while (got < 0 && errno == EINTR);
}

static void open_signals(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	if (signals < 0)
		die("cannot wait for signals: %s", strerror(errno));
}

/* At exit. What was recorded before a failure stays; an empty file would only be in the way of the next try. */
static void remove_empty_file(void)
{
	struct stat st;

	if (file >= 0 && !fstat(file, &st) && !st.st_size)
		unlink(file_name);
}

static void make_file(const char *name)
{
	file_name = name;
	file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		die("cannot make the file '%s': %s", name, strerror(errno));
	atexit(remove_empty_file);
}

static void print_row(const struct answer *answer)
{
	static const struct column columns[] = {
		{ "PERIODS", "periods", KIND_NUMBER },
		{ "SAMPLES", "samples", KIND_NUMBER },
		{ "RECONFIGURED", "reconfigured", KIND_BOOL },
	};
	struct table *table = table_new("recording", columns, sizeof(columns) / sizeof(*columns));

	table_row(table);
	put_number(table, answer_number(answer, "periods"));
	put_number(table, answer_number(answer, "samples"));
	put_bool(table, answer_number(answer, "reconfigured"));
	table_print(table, true);
	table_free(table);
}

/* As JSON it is the daemon's own document. */
static void print(enum format format, const char *name, const char *text)
{
	struct answer *answer = answer_parse(text);

	output_begin(format == FORMAT_RAW ? FORMAT_RAW : FORMAT_TABLE);
	if (format == FORMAT_JSON)
		fputs(text, stdout);
	else if (format == FORMAT_RAW)
		print_row(answer);
	else
		printf("%s: %" PRIu64 " periods, %" PRIu64 " samples%s\n", name, answer_number(answer, "periods"),
		       answer_number(answer, "samples"),
		       answer_number(answer, "reconfigured") ? "; it ends where carrefourd got another configuration" : "");
	output_end();
	answer_free(answer);
}

/* It may be switched on meanwhile; who waits for an empty file should know. */
static void warn_if_off(const struct domain *domain)
{
	struct facts facts = { .domain = *domain };

	get_switches(&facts);
	if (!strcmp(facts.switches, "off"))
		say("neither Carrefour nor auto is on for VM '%s': nothing is recorded before "
		    "'xl numa-policy set %s +auto=advise'", domain_name(domain), domain_argument(domain));
}

static void run(const struct options *options, int argc, char **argv)
{
	struct domain domain = { 0 };
	char request[32], *text;

	(void)argc;
	if (strcmp(argv[0], "all")) {
		find_guest(argv[0], &domain);
		warn_if_off(&domain);
		snprintf(request, sizeof(request), "record %u", domain.id);
	} else {
		snprintf(request, sizeof(request), "record all");
	}
	seconds = options->seconds;
	/* Before there is a file that a signal would leave behind. */
	open_signals();
	make_file(argv[1]);
	text = carrefour_ask(request, file, wait_for_end);
	close(file);
	file = -1;
	print(options->format, argv[1], text);
	free(text);
	free(domain.name);
}

static const struct option_spec options_record[] = {
	{ "seconds", 0, "N", "end it after N seconds", RIGHT_COUNT, OPTION(seconds) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_record = {
	.name = "record",
	.arguments = "DOM|all FILE",
	.summary = "write the samples and decisions of carrefourd to a new file",
	.options = options_record,
	.help =
"Goes on until you interrupt it, or for the seconds of --seconds. The file is a\n"
"trace, from which 'xl numa-policy replay' makes the decisions again. It says\n"
"which pages of the VM were accessed, but not what is in them.\n"
"\n"
"Examples:\n"
"  xl numa-policy record guest1 guest1.trace --seconds 60\n"
"  xl numa-policy replay guest1.trace\n",
	.min_arguments = 2,
	.max_arguments = 2,
	.run = run,
};
