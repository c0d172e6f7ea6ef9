/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that the daemon has, and which guests there are.
 *
 * Who writes what: guests.c the table of guests; daemon/main.c the configuration and the clock; daemon/period.c all else.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include "decide/host.h"
#include "guests/guest.h"

struct daemon {
	struct config config;
	struct host host;
	struct guest **guest;	/* by id */
	unsigned int nr;
	uint64_t period;	/* how many there were */
	uint64_t now, ns;	/* by the clock that never goes back; and since the last period */
	int host_error, metrics_error;	/* that were said */
};

/* Which there are. One that is not in @switches any more, or gone, is only marked. False: out of memory. */
bool guests_sync(struct daemon *daemon, const struct switches *switches, unsigned int nr);
void guests_drop_gone(struct daemon *daemon);
struct guest *guests_find(const struct daemon *daemon, unsigned int id);

#endif
