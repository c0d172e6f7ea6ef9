/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/clock.h"
#include "process/notify.h"

static int to = -1;
static uint64_t alive_ns, alive_at;	/* to be told each; 0: never */

/* It may be meant for a process that has started this one. */
static uint64_t watchdog_ns(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!us || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(us, NULL, 10) * 1000 / 2;
}

void notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;

	if (!length || length >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		*address.sun_path = '\0';
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (to >= 0 && connect(to, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + length)) {
		close(to);
		to = -1;
	}
	alive_ns = watchdog_ns();
}

void notify(const char *format, ...)
{
	char text[256];
	va_list ap;

	if (to < 0)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* systemd that does not listen is not waited for. */
	(void)!send(to, text, strlen(text), MSG_NOSIGNAL);
}

void notify_ready(void)
{
	notify("READY=1");
}

void notify_reloading(void)
{
	notify("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)clock_ns() / 1000);
}

void notify_alive(uint64_t now)
{
	if (!alive_ns || now - alive_at < alive_ns)
		return;
	alive_at = now;
	notify("WATCHDOG=1");
}
