/* SPDX-License-Identifier: GPL-2.0-only */
/* Carrefour waits meanwhile: where a page is, says nothing until it is where the policy puts it. */
#include <errno.h>
#include <string.h>

#include "daemon/breathe.h"
#include "daemon/follow-memory.h"
#include "process/clock.h"
#include "store/store.h"

#define FOLLOW_MS 2000
#define STEP_NS (20 * MS)	/* of a call: others are served within five of them */

void follow_memory_begin(struct daemon *d)
{
	unsigned int i, ms = d->config.period_ms / 4 < FOLLOW_MS ? d->config.period_ms / 4 : FOLLOW_MS;

	d->follow_until = clock_ns() + ms * MS;
	d->follow_left = 0;
	for (i = 0; i < d->nr; i++)
		d->follow_left += d->guest[i]->looked && d->guest[i]->out.verdict.state == STATE_FOLLOWING;
}

static void end_follow(struct guest *g, const char *how)
{
	guest_log(g, LEVEL_INFO, "its memory has followed %s%s: %llu MiB moved; %llu pages stay, in use, not movable "
		  "or without room", class_policy(g->auto_state.class), how,
		  (unsigned long long)(g->follow.moved << PAGE_SHIFT) / MIB, (unsigned long long)g->follow.stays);
	g->follow.on = false;
	/* If it cannot be written, the next daemon finds that there is nothing left to do. */
	store_write_followed(g->switches.id);
}

/* Each of those that are left may take as much of what is left; what it does not need is for them. */
static uint64_t slice_end(struct daemon *d)
{
	uint64_t now = clock_ns(), left = d->follow_until > now ? d->follow_until - now : 0;

	return now + (d->follow_left ? left / d->follow_left-- : left);
}

static int move(struct daemon *d, struct guest *g)
{
	struct follow *f = &g->follow;
	uint64_t until = slice_end(d), begun, moved, stays;
	unsigned int pages;
	int error = 0;

	/* A new configuration need not wait: it goes on in the next period. */
	while (!error && f->gfn != XEN_REBALANCED && (pages = follow_step(f)) && clock_ns() < until && breathe(d) &&
	       !d->reloads) {
		moved = stays = 0;
		begun = clock_ns();
		error = xen_rebalance(g->switches.id, &f->gfn, pages, &moved, &stays);
		follow_took(f, &d->host, moved, stays);
		follow_pace(f, pages, clock_ns() - begun, STEP_NS);
		g->out.verdict.moves += moved;
		g->out.verdict.bytes += moved << PAGE_SHIFT;
		g->metrics.results[RESULT_DONE] += moved;
	}
	return error;
}

void follow_memory(struct daemon *d, struct guest *g)
{
	int error;

	if (strcmp(g->policy.name, class_policy(CLASS_HIGH))) {
		end_follow(g, " until another policy was set");
		return;
	}
	if (!follow_period(&g->follow, &d->host, &d->config, g->in.home)) {
		end_follow(g, " until a node had no more memory to spare");
		return;
	}
	error = move(d, g);
	/* A domain that is gone is told of by its next counters. */
	if (guest_says(g, TOPIC_FOLLOW, error == ESRCH ? 0 : error, d->now))
		guest_log(g, LEVEL_WARNING, "its memory cannot follow %s: %s; tried again each period", g->policy.name,
			  strerror(error));
	if (g->follow.gfn == XEN_REBALANCED)
		end_follow(g, "");
}
