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

#include "carrefour.h"
#include "command.h"
#include "errors.h"

static uint64_t seconds;	/* 0: until a signal */
static int signals;

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

static void run(const struct options *options, int argc, char **argv)
{
	struct domain domain = { 0 };
	struct answer *answer;
	char request[32], *text;
	int file;

	(void)argc;
	if (strcmp(argv[0], "all")) {
		find_guest(argv[0], &domain);
		snprintf(request, sizeof(request), "record %u", domain.id);
	} else {
		snprintf(request, sizeof(request), "record all");
	}
	file = open(argv[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		die("cannot make the file '%s': %s", argv[1], strerror(errno));
	seconds = options->seconds;
	open_signals();
	text = carrefour_ask(request, file, wait_for_end);
	answer = answer_parse(text);
	output_begin(options->format);
	if (options->format == FORMAT_TABLE)
		printf("%s: %" PRIu64 " periods, %" PRIu64 " samples%s\n", argv[1], answer_number(answer, "periods"),
		       answer_number(answer, "samples"),
		       answer_number(answer, "reconfigured") ? "; it ends where carrefourd got another configuration" : "");
	output_end();
	answer_free(answer);
	free(text);
	free(domain.name);
	close(file);
}

const struct command cmd_record = {
	.name = "record",
	.arguments = "DOM|all FILE",
	.summary = "write samples and decisions of Carrefour to a new file",
	.help =
"Goes on until it is interrupted, or for the seconds of --seconds. The file is a\n"
"trace, from which 'xl numa-policy replay' makes the decisions again. It holds\n"
"which pages of the domain were accessed, not what is in them.\n"
"\n"
"Examples:\n"
"  xl numa-policy record guest1 guest1.trace --seconds 60\n"
"  xl numa-policy replay guest1.trace\n",
	.records = true,
	.min_arguments = 2,
	.max_arguments = 2,
	.run = run,
};
