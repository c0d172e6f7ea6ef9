/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carrefourd: watches which CPUs access which memory of guests, and moves pages to where they are used. Here are
 * the command line, the beginning and the end.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "control/requests.h"
#include "control/server.h"
#include "daemon/loop.h"
#include "daemon/sampling.h"
#include "daemon/tell.h"
#include "metrics/metrics.h"
#include "process/clock.h"
#include "process/log.h"
#include "process/notify.h"
#include "process/privileges.h"
#include "store/store.h"

#define CONFIG "/etc/xen/carrefour.conf"
#define RUN_DIRECTORY "/run/carrefourd"
#define SOCKET RUN_DIRECTORY "/socket"

static const char program[] = "carrefourd";

struct daemon_options {
	const char *config, *user, *socket;
	bool check, verbose;
};

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_line(LEVEL_ERROR, "%s", text);
	exit(EXIT_FAILURE);
}

static void help(void)
{
	printf("Usage: %s [OPTION]...\n\n"
	       "For guests that have Carrefour or auto on: watches which CPUs access which memory, and\n"
	       "moves pages to the NUMA nodes that use them. Stays in the foreground.\n\n"
	       "Options:\n"
	       "  -c, --config FILE     instead of " CONFIG "\n"
	       "  -n, --check-config    say whether the configuration is right, and do nothing else\n"
	       "  -s, --socket FILE     where it can be asked, instead of " SOCKET "\n"
	       "  -u, --user USER       what it becomes, instead of what the configuration names\n"
	       "  -v, --verbose         a line for each period of a domain, too\n"
	       "  -V, --version         show the version\n"
	       "  -h, --help            show this help\n\n"
	       "SIGHUP reads the configuration again; SIGTERM and SIGINT end it, and all sampling.\n"
	       "The manual is carrefourd(8).\n",
	       program);
}

static const struct option known[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "check-config", no_argument, NULL, 'n' },
	{ "socket", required_argument, NULL, 's' },
	{ "user", required_argument, NULL, 'u' },
	{ "verbose", no_argument, NULL, 'v' },
	COMMAND_OPTIONS
};
static const struct command command = {
	.name = program, .version = VERSION, .letters = COMMAND_LETTERS "c:ns:u:v", .options = known, .help = help,
};

static struct daemon_options parse_options(int argc, char **argv)
{
	struct daemon_options o = { .config = CONFIG, .socket = SOCKET };
	int c;

	while ((c = command_option(&command, argc, argv)) != -1)
		switch (c) {
		case 'c':
			o.config = command_file(&command, "--config", optarg);
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
		}
	if (optind != argc)
		command_refuse(&command, "'%s' is an argument too many; it takes options only", argv[optind]);
	return o;
}

/* All for which it has to be root; then it is root no more. */
static void open_all(struct daemon *d, const struct daemon_options *o)
{
	char error[512];
	int rc = xen_open();

	if (rc)
		die("cannot talk to Xen: %s%s", strerror(rc),
		    rc == ENOENT ? "; run this in dom0" : rc == EACCES ? "; run this as root" : "");
	d->host.nr_nodes = xen_nodes();
	d->host.topology = xen_topology();
	if (!store_open())
		die("cannot connect to xenstore: %s", strerror(errno));
	/* systemd has made it already. */
	if (!strcmp(o->socket, SOCKET) && mkdir(RUN_DIRECTORY, 0755) && errno != EEXIST)
		die(RUN_DIRECTORY ": cannot make it: %s", strerror(errno));
	if (!server_open(o->socket, requests_begin(d), error, sizeof(error)) ||
	    !privileges_drop(o->user ? o->user : d->config.user, error, sizeof(error)))
		die("%s", error);
}

static void close_all(struct daemon *d)
{
	server_close();
	tell_no_metrics(d);
	sampling_end_all(d);
	store_close();
	xen_close();
}

int main(int argc, char **argv)
{
	struct daemon_options o = parse_options(argc, argv);
	struct daemon d = { .version = VERSION, .config = config_defaults(), .metrics.begun_at = clock_wall_ns() };
	char error[1024];

	log_begin(o.verbose);
	if (!config_load(&d.config, o.config, error, sizeof(error)))
		die("%s", error);
	if (o.check) {
		if (!privileges_known(o.user ? o.user : d.config.user, error, sizeof(error)))
			die("%s: %s", o.config, error);
		if (!metrics_possible(d.config.metrics, error, sizeof(error)))
			die("%s: %s", o.config, error);
		printf("%s: good\n", o.config);
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	notify_open();
	if (!loop_open())
		die("cannot wait for signals: %s", strerror(errno));
	open_all(&d, &o);
	notify_ready();
	log_line(LEVEL_INFO, "runs, a period of %u ms, %u nodes", d.config.period_ms, d.host.nr_nodes);
	if (!loop_run(&d, o.config, o.user != NULL))
		die("cannot wait: %s", strerror(errno));
	notify("STOPPING=1");
	close_all(&d);
	log_line(LEVEL_INFO, "ends; all sampling has ended");
	return EXIT_SUCCESS;
}
