/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that the daemon has, and which guests there are.
 *
 * Who writes what: guests.c the table of guests; daemon/loop.c the configuration, the clock and what others want;
 * daemon/census.c the census; daemon/heal.c and heal-act.c the healing; daemon/tell.c which file of metrics there is;
 * daemon/period.c all else.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include "decide/host.h"
#include "guests/guest.h"
#include "guests/healing.h"
#include "guests/hosted.h"
#include "guests/memory.h"

struct daemon {
	const char *version;
	struct config config;
	struct host host;
	struct guest **guest;		/* by id */
	unsigned int nr;
	uint64_t period;		/* how many there were */
	uint64_t now, ns;		/* by the clock that never goes back; and since the last period */

	/* Others are served within a period, too: daemon/breathe.h. */
	void (*serve)(struct daemon *daemon);
	uint64_t served_at, read_at;
	bool ends, reloads;		/* as soon as can be; when the period is over */

	struct share share;		/* of each guest that is not at rest */
	uint64_t follow_until;		/* memory follows in this period */
	unsigned int follow_left;	/* guests whose memory may yet */
	int host_error, metrics_error;	/* that were said */
	bool left_out;			/* some guests, for want of memory; as was said */

	struct census census;		/* of all domains; only while there are metrics, or heal looks */
	struct healing healing;
	uint64_t node_bytes[NODES_MAX], node_free[NODES_MAX];
	struct daemon_metrics metrics;
	char metrics_file[256];		/* that was tried last; empty: none */
	bool metrics_there;		/* ... and was written */
	uint64_t metrics_at;		/* when it was tried */
};

/* Which there are. One that is not in @switches any more, or gone, is only marked. False: out of memory. */
bool guests_sync(struct daemon *daemon, const struct switches *switches, unsigned int nr);
void guests_drop_gone(struct daemon *daemon);
struct guest *guests_find(const struct daemon *daemon, unsigned int id);

/* Those with memory of their own, and of these the ones that are not at rest. */
unsigned int guests_sampled(const struct daemon *daemon, unsigned int *active);
size_t guests_bytes(const struct daemon *daemon);

#endif
