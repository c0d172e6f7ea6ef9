/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carrefourd: watches who accesses which memory of guests, and moves pages to where they are used. Here are
 * the command line, signals and the loop; what is done each period is in period.c.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/reload.h"
#include "control/record.h"
#include "control/requests.h"
#include "control/server.h"
#include "daemon/period.h"
#include "daemon/sampling.h"
#include "process/clock.h"
#include "process/log.h"
#include "process/privileges.h"
#include "store/store.h"

#define EXIT_USAGE 2
#define CONFIG "/etc/xen/carrefour.conf"
#define RUN_DIRECTORY "/run/carrefourd"
#define SOCKET RUN_DIRECTORY "/socket"

static const char program[] = "carrefourd";

struct daemon_options {
	const char *config, *user, *socket;
	bool check, verbose;
};

__attribute__((noreturn, format(printf, 2, 3)))
static void die(int status, const char *format, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (status == EXIT_USAGE)
		fprintf(stderr, "%s: %s; see '%s --help'\n", program, text, program);
	else
		log_line(LEVEL_ERROR, "%s", text);
	exit(status);
}

static void help(void)
{
	printf("Usage: %s [OPTION]...\n\n"
	       "Watches who accesses which memory of the guests that have Carrefour or auto on, and\n"
	       "moves pages to the NUMA nodes that use them. Stays in the foreground.\n\n"
	       "Options:\n"
	       "  -c, --config FILE     instead of " CONFIG "\n"
	       "  -n, --check-config    say whether the configuration is right, and do nothing else\n"
	       "  -s, --socket FILE     where it can be asked, instead of " SOCKET "\n"
	       "  -u, --user USER       what it becomes, instead of what the configuration names\n"
	       "  -v, --verbose         a line for each period of a domain, too\n"
	       "  -h, --help            show this help\n\n"
	       "SIGHUP reads the configuration again; SIGTERM and SIGINT end it, and all sampling.\n"
	       "The manual is carrefourd(8).\n",
	       program);
}

static struct daemon_options parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check-config", no_argument, NULL, 'n' },
		{ "socket", required_argument, NULL, 's' },
		{ "user", required_argument, NULL, 'u' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct daemon_options o = { .config = CONFIG, .socket = SOCKET };
	int c;

	/* The colon: getopt says nothing, and tells a missing value apart. */
	while ((c = getopt_long(argc, argv, ":c:ns:u:vh", known, NULL)) != -1)
		switch (c) {
		case 'c':
			o.config = optarg;
			break;
		case 'n':
			o.check = true;
			break;
		case 's':
			o.socket = optarg;
			break;
		case 'u':
			o.user = optarg;
			break;
		case 'v':
			o.verbose = true;
			break;
		case 'h':
			help();
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case ':':
			die(EXIT_USAGE, "option '%s' needs a value", argv[optind - 1]);
		default:
			die(EXIT_USAGE, "unknown option '%s'", argv[optind - 1]);
		}
	if (optind != argc)
		die(EXIT_USAGE, "'%s' is an argument too many; it takes options only", argv[optind]);
	return o;
}

/* Signals come as a file to poll; libxenstore's thread inherits that none of them comes otherwise. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* All for which it has to be root; then it is root no more. */
static void open_all(struct daemon *d, const struct daemon_options *o)
{
	char error[512];
	int rc = xen_open();

	if (rc)
		die(EXIT_FAILURE, "cannot talk to Xen: %s%s", strerror(rc),
		    rc == ENOENT ? "; run this in dom0" : rc == EACCES ? "; run this as root" : "");
	d->host.nr_nodes = xen_nodes();
	if (!store_open())
		die(EXIT_FAILURE, "cannot connect to xenstore: %s", strerror(errno));
	/* systemd has made it already. */
	if (!strcmp(o->socket, SOCKET) && mkdir(RUN_DIRECTORY, 0755) && errno != EEXIST)
		die(EXIT_FAILURE, RUN_DIRECTORY ": cannot make it: %s", strerror(errno));
	if (!server_open(o->socket, requests_begin(d), error, sizeof(error)) ||
	    !privileges_drop(o->user ? o->user : d->config.user, error, sizeof(error)))
		die(EXIT_FAILURE, "%s", error);
}

static void reload_config(struct daemon *d, const struct daemon_options *o)
{
	char error[1024];
	struct reload what;
	unsigned int i;
	bool good;

	/* It may be root's alone, and was readable at the start. */
	privileges_raise();
	good = reload(&d->config, o->config, &what, error, sizeof(error));
	privileges_lower();
	if (!good) {
		log_line(LEVEL_ERROR, "%s; the configuration stays as it was", error);
		return;
	}
	log_line(LEVEL_INFO, "%s: read again", o->config);
	if (what.user && !o->user)
		log_line(LEVEL_WARNING, "%s: user holds from the next start on", o->config);
	record_reconfigured();
	for (i = 0; what.sampling && i < d->nr; i++)
		sampling_end(d->guest[i]);
}

/* False: it is to end. */
static bool read_signals(struct daemon *d, const struct daemon_options *o, int signals)
{
	struct signalfd_siginfo info;
	bool goes_on = true;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGHUP)
			reload_config(d, o);
		else
			goes_on = false;
	return goes_on;
}

/* Waits for anything, but not beyond @until. */
static bool serve_until(struct daemon *d, const struct daemon_options *o, int signals, uint64_t until)
{
	struct pollfd fds[SERVER_POLL + 2];
	unsigned int clients = server_poll(fds);
	struct timespec timeout;

	d->now = clock_ns();
	until = until > d->now ? until - d->now : 0;
	timeout = (struct timespec){ until / (1000 * MS), until % (1000 * MS) };
	fds[clients] = (struct pollfd){ .fd = signals, .events = POLLIN };
	fds[clients + 1] = (struct pollfd){ .fd = store_fd(), .events = POLLIN };
	if (ppoll(fds, clients + 2, &timeout, NULL) < 0 && errno != EINTR)
		die(EXIT_FAILURE, "cannot wait: %s", strerror(errno));
	d->now = clock_ns();
	if (fds[clients + 1].revents)
		store_read();
	server_serve(fds, clients, d->now);
	return !fds[clients].revents || read_signals(d, o, signals);
}

static void loop(struct daemon *d, const struct daemon_options *o, int signals)
{
	uint64_t last = clock_ns(), next = last, next_read = last;

	for (;;) {
		if (!serve_until(d, o, signals, next < next_read ? next : next_read))
			return;
		if (d->now >= next) {
			d->ns = d->now - last;
			last = d->now;
			period_run(d);
			next += d->config.period_ms * MS;
			/* What came too late is not made up for. */
			if (next <= d->now)
				next = d->now + d->config.period_ms * MS;
		} else if (d->now >= next_read) {
			sampling_read_all(d);
		}
		if (d->now >= next_read)
			next_read = d->now + READ_MS * MS;
	}
}

static void close_all(struct daemon *d)
{
	unsigned int i;

	server_close();
	for (i = 0; i < d->nr; i++) {
		sampling_end(d->guest[i]);
		guest_free(d->guest[i]);
	}
	free(d->guest);
	store_close();
	xen_close();
}

int main(int argc, char **argv)
{
	struct daemon_options o = parse_options(argc, argv);
	struct daemon d = { .config = config_defaults() };
	char error[1024];
	int signals;

	log_begin(o.verbose);
	if (!config_load(&d.config, o.config, error, sizeof(error)))
		die(EXIT_FAILURE, "%s", error);
	if (o.check) {
		if (!privileges_known(o.user ? o.user : d.config.user, error, sizeof(error)))
			die(EXIT_FAILURE, "%s: %s", o.config, error);
		printf("%s: good\n", o.config);
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	signals = open_signals();
	if (signals < 0)
		die(EXIT_FAILURE, "cannot wait for signals: %s", strerror(errno));
	open_all(&d, &o);
	log_line(LEVEL_INFO, "runs, a period of %u ms, %u nodes", d.config.period_ms, d.host.nr_nodes);
	loop(&d, &o, signals);
	close_all(&d);
	log_line(LEVEL_INFO, "ends; all sampling has ended");
	return EXIT_SUCCESS;
}
