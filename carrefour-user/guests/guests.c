/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of guests follows what xenstore says. Knows nothing of Xen. */
#include <stdlib.h>

#include "guests/daemon.h"

struct guest *guests_find(const struct daemon *d, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->switches.id == id && !d->guest[i]->gone)
			return d->guest[i];
	return NULL;
}

unsigned int guests_sampled(const struct daemon *d, unsigned int *active)
{
	unsigned int i, nr = 0;

	*active = 0;
	for (i = 0; i < d->nr; i++) {
		nr += d->guest[i]->seen.matrix != NULL;
		*active += d->guest[i]->seen.matrix && !guest_is_at_rest(d->guest[i]);
	}
	return nr;
}

size_t guests_bytes(const struct daemon *d)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		bytes += guest_bytes(d->guest[i], d->host.nr_nodes);
	return bytes;
}

static const struct switches *switches_of(const struct switches *switches, unsigned int nr, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (switches[i].id == id)
			return &switches[i];
	return NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct guest *p = *(struct guest *const *)a, *q = *(struct guest *const *)b;

	return p->switches.id < q->switches.id ? -1 : p->switches.id > q->switches.id;
}

static void log_switches(const struct guest *g)
{
	guest_log(g, LEVEL_INFO, "Carrefour is %s, auto is %s", g->switches.carrefour ? "on" : "off",
		  auto_mode_name(g->switches.mode));
}

static bool add(struct daemon *d, const struct switches *switches)
{
	struct guest **new = realloc(d->guest, (d->nr + 1) * sizeof(*new));

	if (!new)
		return false;
	d->guest = new;
	new[d->nr] = guest_new(switches);
	if (!new[d->nr])
		return false;
	log_switches(new[d->nr++]);
	return true;
}

static void change(struct guest *g, const struct switches *now)
{
	bool changed = g->switches.carrefour != now->carrefour || g->switches.mode != now->mode;

	guest_update(g, now);
	if (changed)
		log_switches(g);
}

bool guests_sync(struct daemon *d, const struct switches *switches, unsigned int nr)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < d->nr; i++) {
		const struct switches *now = switches_of(switches, nr, d->guest[i]->switches.id);

		if (now) {
			change(d->guest[i], now);
		} else if (!d->guest[i]->gone) {
			d->guest[i]->gone = true;
			guest_log(d->guest[i], LEVEL_INFO, "Carrefour and auto are off");
		}
	}
	for (i = 0; i < nr && good; i++)
		if (!guests_find(d, switches[i].id))
			good = add(d, &switches[i]);
	if (d->nr)
		qsort(d->guest, d->nr, sizeof(*d->guest), by_id);
	return good;
}

void guests_drop_gone(struct daemon *d)
{
	unsigned int i, kept = 0;

	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->gone)
			guest_free(d->guest[i]);
		else
			d->guest[kept++] = d->guest[i];
	d->nr = kept;
}
