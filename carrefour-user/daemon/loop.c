/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "config/reload.h"
#include "control/record.h"
#include "control/server.h"
#include "daemon/breathe.h"
#include "daemon/loop.h"
#include "daemon/period.h"
#include "daemon/sampling.h"
#include "process/clock.h"
#include "process/log.h"
#include "process/notify.h"
#include "process/privileges.h"
#include "store/store.h"

static int signals = -1;

/* Signals come as a file to poll; libxenstore's thread inherits that none of them comes otherwise. */
bool loop_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return signals >= 0;
}

/* Within a period it is only noted: all of a period is decided by one configuration. */
static void read_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			d->reloads = true;
		else
			d->ends = true;
	}
}

/* Waits for anything, but not beyond @until. */
static bool serve_until(struct daemon *d, uint64_t until)
{
	struct pollfd fds[SERVER_POLL + 2];
	unsigned int clients = server_poll(fds);
	struct timespec timeout;
	uint64_t now = clock_ns(), wait = until > now ? until - now : 0;

	timeout = (struct timespec){ wait / (1000 * MS), wait % (1000 * MS) };
	fds[clients] = (struct pollfd){ .fd = signals, .events = POLLIN };
	fds[clients + 1] = (struct pollfd){ .fd = store_fd(), .events = POLLIN };
	if (ppoll(fds, clients + 2, &timeout, NULL) < 0)
		return errno == EINTR;
	d->served_at = clock_ns();
	if (fds[clients + 1].revents)
		store_read();
	server_serve(fds, clients, d->served_at);
	notify_alive(d->served_at);
	if (fds[clients].revents)
		read_signals(d);
	return true;
}

/* All that is ready; an answer takes a pass to accept, one to read and one or more to write. */
static void serve_now(struct daemon *d)
{
	unsigned int pass;

	for (pass = 0; pass < 3; pass++)
		serve_until(d, 0);
}

static bool reload_config(struct daemon *d, const char *path, bool user_is_given)
{
	char error[1024];
	struct reload what;
	unsigned int i;
	bool good;

	d->reloads = false;
	notify_reloading();
	/* It may be root's alone, and was readable at the start. */
	privileges_raise();
	good = reload(&d->config, path, &what, error, sizeof(error));
	privileges_lower();
	notify_ready();
	d->metrics.reload_failed = !good;
	if (!good) {
		log_line(LEVEL_ERROR, "%s; the configuration stays as it was", error);
		return false;
	}
	log_line(LEVEL_INFO, "%s: read again", path);
	if (what.user && !user_is_given)
		log_line(LEVEL_WARNING, "%s: user holds from the next start on", path);
	record_reconfigured();
	for (i = 0; what.sampling && i < d->nr; i++)
		sampling_end(d->guest[i]);
	return what.period;
}

bool loop_run(struct daemon *d, const char *config, bool user_is_given)
{
	uint64_t last = clock_ns(), next = last, next_read = last;

	d->serve = serve_now;
	while (!d->ends) {
		/* The period that runs is over by the old length, or by the new one if that is sooner. */
		if (d->reloads && reload_config(d, config, user_is_given) && next > last + d->config.period_ms * MS)
			next = last + d->config.period_ms * MS;
		if (!serve_until(d, next < next_read ? next : next_read))
			return false;
		d->now = clock_ns();
		if (d->ends || d->reloads)
			continue;
		if (d->now >= next) {
			d->ns = d->now - last;
			d->read_at = last = d->now;
			period_run(d);
			d->now = clock_ns();
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
	return true;
}
