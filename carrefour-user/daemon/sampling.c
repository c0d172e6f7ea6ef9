/* SPDX-License-Identifier: GPL-2.0-only */
/* A guest's sampling over time: it begins, others end it, the guest cannot have it, or is gone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/sampling.h"
#include "process/log.h"

#define ROOM_LEAST 1024			/* samples */
#define RETRY_NS (30000 * MS)		/* what was refused, may change: a device is taken away */

/* Twice what can come between two readings, if that fits. */
static unsigned int ring_pages(const struct config *c)
{
	unsigned int ms = c->period_ms < READ_MS ? c->period_ms : READ_MS, pages = 1;
	uint64_t samples = 2ULL * c->sample_entries * ((ms + c->sample_ms - 1) / c->sample_ms);

	while (pages < RING_PAGES_MAX - 1 && pages * RING_PER_PAGE < samples)
		pages *= 2;
	return 1 + pages;
}

static const char *refusal(int error)
{
	switch (error) {
	case EBUSY:
		return "somebody else samples it; tried again each period";
	case EXDEV:
		return "devices are or may be assigned to it";
	case EEXIST:
		return "it has vNUMA, and with it a placement of its own";
	case EOPNOTSUPP:
		return "Xen does not sample such a domain (PV, shadow paging, altp2m, nested guests, memory sharing or paging)";
	case ENOMEM:
		return "Xen or dom0 is out of memory";
	case EDQUOT:
		return "memory_mb is not enough for another guest; raise it in carrefour.conf";
	case ENOSYS:
		return "this Xen has no NUMA placement policies";
	default:
		return strerror(error);
	}
}

static void refused(struct guest *g, int error, uint64_t now)
{
	enum sampling before = g->sampling;
	bool same = error == g->error;

	g->sampling = error == EBUSY ? SAMPLING_TAKEN : SAMPLING_REFUSED;
	g->error = error;
	g->retry_at = error == EBUSY ? now : now + RETRY_NS;
	if (g->sampling != before || !same)
		guest_log(g, LEVEL_WARNING, "not sampled: %s", refusal(error));
}

static void vanished(struct guest *g)
{
	if (!g->gone)
		guest_log(g, LEVEL_INFO, "gone");
	g->gone = true;
}

/* EDQUOT: the budget has no room for this one. */
static int take_memory(const struct daemon *d, struct guest *g)
{
	unsigned int active;

	if (!g->seen.matrix && guests_sampled(d, &active) >= memory_guests(&d->config, d->host.nr_nodes))
		return EDQUOT;
	return guest_open(g, d->host.nr_nodes) ? 0 : ENOMEM;
}

static void begin(struct guest *g, const struct daemon *d)
{
	const struct config *c = &d->config;
	uint64_t now = d->now;
	struct xen_sampling settings = {
		.entries = c->sample_entries, .period_ms = c->sample_ms, .permille = c->sample_permille, .pages = ring_pages(c),
		.ibs = c->sample_ibs,
	};
	int error = take_memory(d, g);
	bool ending = g->ending;
	const char *why;

	g->ending = false;
	if (!error)
		error = xen_sample_start(g->switches.id, &settings, &g->mapping);
	/* The processor has none, or somebody else has it. */
	if (settings.ibs && (error == EOPNOTSUPP || (error == EBUSY && !ending))) {
		settings.ibs = false;
		error = xen_sample_start(g->switches.id, &settings, &g->mapping);
	}

	if (error == ESRCH) {
		vanished(g);
	} else if (error == EBUSY && ending) {
		g->retry_at = now;
	} else if (error) {
		refused(g, error, now);
	} else if (!ring_open(&g->ring, g->mapping.base, g->mapping.bytes, &why)) {
		guest_log(g, LEVEL_ERROR, "the ring cannot be read: %s", why);
		xen_sample_stop(g->switches.id, &g->mapping);
		refused(g, EPROTO, now);
	} else {
		guest_log(g, LEVEL_INFO, "sampling begins, by %s",
			  settings.ibs ? "IBS" : c->sample_ibs ? "hint faults, as IBS is not to be had" : "hint faults");
		g->sampling = SAMPLING_RUNS;
		g->error = 0;
		counters_clear(&g->seen, d->host.nr_nodes);
		return;
	}
	guest_close(g);
	/* Its part of the budget is for others now. */
	if (g->sampling != SAMPLING_NOT_YET)
		guest_forget(g);
}

static bool make_room(struct guest *g)
{
	size_t room = g->room ? 2 * g->room : ROOM_LEAST;
	struct sample *new;

	if (g->nr_samples < g->room)
		return true;
	if (room > g->most && g->room)
		return false;
	new = realloc(g->sample, room * sizeof(*new));
	if (!new)
		return false;
	g->sample = new;
	g->room = room;
	return true;
}

void sampling_read(struct guest *g)
{
	struct sample ignored[RING_PER_PAGE];
	unsigned int page;
	size_t nr;

	if (g->sampling != SAMPLING_RUNS)
		return;
	while (make_room(g)) {
		nr = ring_read(&g->ring, g->sample + g->nr_samples, g->room - g->nr_samples, &g->faults);
		g->nr_samples += nr;
		if (g->nr_samples < g->room)
			return;
	}
	/* Read all the same: Xen would take it for left. */
	for (page = 1; page < RING_PAGES_MAX; page++)
		g->faults.lost += ring_read(&g->ring, ignored, RING_PER_PAGE, &g->faults);
}

void sampling_read_all(struct daemon *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		sampling_read(d->guest[i]);
}

/* Xen, or somebody else, has ended it. */
static void ended(struct guest *g, enum xen_state state, uint64_t now)
{
	xen_sample_drop(&g->mapping);
	g->sampling = SAMPLING_NOT_YET;
	g->nr_samples = 0;
	/* Xen says so before it has taken back its marks. */
	g->ending = true;
	if (state == XEN_UNFIT)
		refused(g, EOPNOTSUPP, now);
	else
		guest_log(g, LEVEL_WARNING, "sampling was ended by %s, and begins anew",
			  state == XEN_UNREAD ? "Xen, as it had not been read" : "somebody else");
}

static void give_back_room(struct guest *g)
{
	free(g->sample);
	g->sample = NULL;
	g->room = 0;
}

/* Room that is not needed, or too much for its share by now, is given back. */
void sampling_done(struct guest *g)
{
	/* Some may have come while others were looked at. */
	g->nr_samples -= g->in.nr_samples;
	if (g->nr_samples)
		memmove(g->sample, g->sample + g->in.nr_samples, g->nr_samples * sizeof(*g->sample));
	if (g->room > ROOM_LEAST && !g->nr_samples && (g->room > g->most || g->in.nr_samples < g->room / 4))
		give_back_room(g);
}

void sampling_give_back(struct guest *g)
{
	if (g->room <= g->most)
		return;
	g->faults.lost += g->nr_samples;
	g->nr_samples = 0;
	give_back_room(g);
}

void sampling_keep(struct guest *g, const struct daemon *d)
{
	enum xen_state state;
	int error;

	g->looked = false;
	if (g->sampling == SAMPLING_RUNS) {
		/* What is in the ring is counted; what comes between the two is read in the next period. */
		sampling_read(g);
		error = xen_sample_get(g->switches.id, &g->period, &state);
		if (error == ESRCH)
			vanished(g);
		else if (guest_says(g, TOPIC_COUNTERS, error, d->now))
			guest_log(g, LEVEL_WARNING, "counters: %s; tried again each period", strerror(error));
		else if (!error && state != XEN_RUNNING)
			ended(g, state, d->now);
		g->looked = !error && g->sampling == SAMPLING_RUNS;
	} else if (d->now >= g->retry_at) {
		begin(g, d);
	}
}

void sampling_end(struct guest *g)
{
	if (g->sampling == SAMPLING_RUNS)
		xen_sample_stop(g->switches.id, &g->mapping);
	g->sampling = SAMPLING_NOT_YET;
	g->retry_at = 0;
	guest_close(g);
}

void sampling_end_all(struct daemon *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++) {
		sampling_end(d->guest[i]);
		guest_free(d->guest[i]);
	}
	free(d->guest);
	hosted_free(&d->census);
	healing_free(&d->healing);
}
