/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `auto` of a guest: says what it would choose, or chooses it, and has its memory follow. Static policy by the domctl that
 * libxl uses for it, and what libxl says to the guest then; the configuration that libxl keeps stays, as it is what was
 * asked for.
 */
#include <errno.h>
#include <string.h>

#include "daemon/apply.h"
#include "decide/explain.h"
#include "process/clock.h"
#include "process/log.h"
#include "store/store.h"

#define FOLLOW_MS 2000

/* Returns whether it is done. What fails is tried again in the next period, and said once. */
static bool apply(struct guest *g)
{
	const struct advice *a = &g->advice;
	bool first_touch = a->class != CLASS_HIGH;
	int error = 0;

	if (strcmp(g->policy.name, a->policy)) {
		error = xen_policy_set(g->switches.id, &g->policy, a->policy);
		/* First-touch has no place for what is touched already. */
		if (!error && !first_touch)
			guest_follow(g);
	}
	if (!error && !store_tell_guest(g->switches.id, first_touch))
		error = EIO;
	/* What the next daemon goes by comes last. */
	if (!error && !store_write_class(g->switches.id, a->class, a->carrefour, g->follow.on))
		error = EIO;
	if (error && error != g->auto_error)
		guest_log(g, LEVEL_WARNING, "auto cannot set %s%s: %s; tried again each period", a->policy, a->carrefour ? ",carrefour" : "",
			 error == EIO ? "xenstore cannot be written" : strerror(error));
	g->auto_error = error;
	return !error;
}

void choice_make(struct guest *g, const struct config *c)
{
	struct auto_input in = auto_input_of(&g->in, &g->out.verdict, g->policy.name, g->switches.carrefour);
	char text[EXPLAIN_SIZE];

	if (g->switches.mode == AUTO_OFF)
		return;
	g->advice = auto_step(&g->auto_state, c, &in);
	/* Between two changes it is the administrator's turn: what was set by hand stays. */
	if (g->advice.why == AUTO_CHANGED)
		g->applied = false;
	if (g->advice.why == AUTO_CHANGED || !g->advised) {
		auto_explain(text, sizeof(text), &g->advice, c);
		guest_log(g, LEVEL_INFO, "auto %s %s", g->switches.mode == AUTO_ON ? "chooses" : "would choose", text);
	}
	g->advised = true;
	/*
	 * One whose vCPUs have not run may still be built. What it is built of, and boots with, is shared by all; under
	 * first-touch it would be on the node of the vCPU that boots, and be taken for an imbalance of the guest.
	 */
	if (g->switches.mode == AUTO_ON && !g->applied && g->counters.guest_ns)
		g->applied = apply(g);
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

/* For so long the socket may wait. */
static uint64_t follow_ns(const struct config *c)
{
	return (c->period_ms / 4 < FOLLOW_MS ? c->period_ms / 4 : FOLLOW_MS) * MS;
}

/* Carrefour waits meanwhile: where a page is, says nothing until it is where the policy puts it. */
void choice_follow(struct daemon *d, struct guest *g)
{
	struct follow *f = &g->follow;
	uint64_t until = clock_ns() + follow_ns(&d->config), moved, stays;
	unsigned int pages;
	int error = 0;

	if (strcmp(g->policy.name, class_policy(CLASS_HIGH))) {
		end_follow(g, " until another policy was set");
		return;
	}
	if (!follow_period(f, &d->host, &d->config, g->in.home)) {
		end_follow(g, " until a node had no more memory to spare");
		return;
	}
	while (!error && f->gfn != XEN_REBALANCED && (pages = follow_step(f)) && clock_ns() < until) {
		moved = stays = 0;
		error = xen_rebalance(g->switches.id, &f->gfn, pages, &moved, &stays);
		follow_took(f, &d->host, moved, stays);
		g->out.verdict.moves += moved;
		g->out.verdict.bytes += moved << PAGE_SHIFT;
		g->metrics.results[RESULT_DONE] += moved;
	}
	/* A domain that is gone is told of by its next counters. */
	if (error && error != ESRCH && error != g->auto_error)
		guest_log(g, LEVEL_WARNING, "its memory cannot follow %s: %s; tried again each period",
			  g->policy.name, strerror(error));
	g->auto_error = error;
	if (f->gfn == XEN_REBALANCED)
		end_follow(g, "");
}
