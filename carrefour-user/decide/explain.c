/* SPDX-License-Identifier: GPL-2.0-only */
/* Says what was decided, with the numbers that led to it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "decide/explain.h"

static const char *const actions[NR_ACTIONS] = {
	[ACTION_MIGRATE] = "migrate", [ACTION_INTERLEAVE] = "interleave", [ACTION_SPLIT] = "split",
	[ACTION_COLLAPSE] = "collapse", [ACTION_FREEZE] = "freeze",
};
static const char *const whys[NR_WHYS] = {
	[WHY_ONE_NODE] = "one-node", [WHY_OVERLOADED] = "overloaded", [WHY_FOUGHT_OVER] = "fought-over",
	[WHY_HOT] = "hot", [WHY_HUGE] = "huge", [WHY_ONE_NODE_AGAIN] = "one-node-again", [WHY_NO_GAIN] = "no-gain",
	[WHY_CAME_FROM] = "came-from", [WHY_OFTEN] = "often",
};
static const char *const states[NR_STATES] = {
	[STATE_OFF] = "off", [STATE_FOLLOWING] = "following", [STATE_FEW_SAMPLES] = "few-samples",
	[STATE_ONE_HOME] = "one-home", [STATE_IDLE] = "idle", [STATE_BACKOFF] = "back-off",
	[STATE_BALANCED] = "balanced", [STATE_ACTIVE] = "active",
};
static const char *const helds[NR_HELD] = {
	[HELD_COOLDOWN] = "cool-down", [HELD_FROZEN] = "frozen", [HELD_FAILED] = "could-not-move",
	[HELD_NOT_HOME] = "no-home-node", [HELD_FULL] = "node-full", [HELD_BUDGET] = "budget",
};

#define NAME(names, i) ((i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : NULL)

const char *action_name(unsigned int action)
{
	return NAME(actions, action);
}

const char *why_name(unsigned int why)
{
	return NAME(whys, why);
}

const char *state_name(unsigned int state)
{
	return NAME(states, state);
}

const char *held_name(unsigned int held)
{
	return NAME(helds, held);
}

/* Appends; what has no room is cut. */
struct text {
	char *buf;
	size_t length;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->length, EXPLAIN_SIZE - t->length, format, ap);
	va_end(ap);
	t->length += n;
	if (t->length >= EXPLAIN_SIZE)
		t->length = EXPLAIN_SIZE - 1;
}

#define PERCENT(permille) (permille) / 10, (permille) % 10

void explain_decision(char *buf, const struct decision *d)
{
	struct text t = { buf, 0 };

	add(&t, "%s gfn 0x%" PRIx64 " %s from node %u to %u: ", actions[d->action], d->gfn,
	    d->order == ORDER_2M ? "2M" : "4K", d->from, d->to);
	switch (d->why) {
	case WHY_ONE_NODE:
		add(&t, "all of its last %u samples from node %u, %u in this period", d->samples, d->to, d->hits);
		break;
	case WHY_OVERLOADED:
		add(&t, "%u nodes use it (%u samples in this period), node %u has %u.%u %% of all accesses, node %u %u.%u %%",
		    d->nodes, d->hits, d->from, PERCENT(d->load_from), d->to, PERCENT(d->load_to));
		break;
	case WHY_FOUGHT_OVER:
	case WHY_HUGE:
		add(&t, "%s that %u nodes use, at most %u of %u samples from one node; to divide it, its first part moves",
		    d->why == WHY_HUGE ? "1G cannot move whole" : "2M", d->nodes, d->agree, d->samples);
		break;
	case WHY_HOT:
		add(&t, "2M that %u nodes use with %u samples in this period; to divide it, its first part moves",
		    d->nodes, d->hits);
		break;
	case WHY_ONE_NODE_AGAIN:
		add(&t, "divided %u s ago, and used by node %u only", d->ms / 1000, d->to);
		break;
	case WHY_NO_GAIN:
		add(&t, "divided %u s ago, and no more local since", d->ms / 1000);
		break;
	case WHY_CAME_FROM:
		add(&t, "it came from there not long ago (ping-pong), so it stays for %u s", d->ms / 1000);
		break;
	case WHY_OFTEN:
		add(&t, "it would be its third move in a short time (ping-pong), so it stays for %u s", d->ms / 1000);
		break;
	default:
		add(&t, "?");
	}
}

static void add_cause(struct text *t, const struct verdict *v, const struct config *c)
{
	switch (v->state) {
	case STATE_FEW_SAMPLES:
		add(t, " (fewer than %u)", c->min_samples);
		break;
	case STATE_IDLE:
		if (v->accesses_per_us >= 0)
			add(t, ", %lld accesses per us on the host (fewer than %u)", (long long)v->accesses_per_us,
			    c->min_accesses_per_us);
		else
			add(t, ", %u %% of marked entries touched (fewer than %u %%)", v->touched_pct, c->min_touched_pct);
		break;
	case STATE_BACKOFF:
		add(t, ", %llu ms more as moves did not help", (unsigned long long)v->backoff_ms);
		break;
	default:
		break;
	}
	if (v->judged)
		add(t, ", %u %% of %u samples on moved pages gained", v->efficiency_pct, v->judged);
	if (v->lost)
		add(t, ", %u of %u moves that can be judged gained nothing", v->lost, v->told);
}

void explain_verdict(char *buf, const struct verdict *v, const struct config *config)
{
	const struct measure *m = &v->measure;
	struct text t = { buf, 0 };
	unsigned int i;

	add(&t, "%s: %" PRIu64 " samples", states[v->state], m->samples);
	add_cause(&t, v, config);
	add(&t, ", local %u.%u %%, imbalance %u.%u %%", PERCENT(m->local), PERCENT(m->imbalance));
	if (m->pair)
		add(&t, ", busiest pair %u-%u %u.%u %%", m->pair_from, m->pair_to, PERCENT(m->pair));
	add(&t, "%s%s; %u moves, %" PRIu64 " KiB", v->migrating ? ", migrating" : "", v->interleaving ? ", interleaving" : "",
	    v->moves, v->bytes >> 10);
	if (v->frozen)
		add(&t, ", %u frozen", v->frozen);
	if (v->splits_open)
		add(&t, ", %u splits on trial", v->splits_open);
	for (i = 0; i < NR_HELD; i++)
		if (v->held[i])
			add(&t, ", %u held by %s", v->held[i], helds[i]);
	if (v->strange)
		add(&t, ", %" PRIu64 " samples make no sense", v->strange);
	if (v->untracked)
		add(&t, ", %" PRIu64 " samples without room in the table", v->untracked);
}
