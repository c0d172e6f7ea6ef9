/* The table of guests follows what xenstore says. Knows nothing of Xen. */
#include <stdlib.h>

#include "daemon.h"
#include "log.h"

struct guest *guests_find(const struct daemon *d, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		if (d->guest[i]->wish.id == id && !d->guest[i]->gone)
			return d->guest[i];
	return NULL;
}

static const struct wish *wish_of(const struct wish *wish, unsigned int nr, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (wish[i].id == id)
			return &wish[i];
	return NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct guest *p = *(struct guest *const *)a, *q = *(struct guest *const *)b;

	return p->wish.id < q->wish.id ? -1 : p->wish.id > q->wish.id;
}

static bool add(struct daemon *d, const struct wish *wish)
{
	struct guest **new = realloc(d->guest, (d->nr + 1) * sizeof(*new));

	if (!new)
		return false;
	d->guest = new;
	new[d->nr] = guest_new(wish);
	if (!new[d->nr])
		return false;
	d->nr++;
	log_line(LEVEL_INFO, "domain %u (%s): Carrefour is %s, auto is %s", wish->id, wish->name,
		 wish->carrefour ? "on" : "off", auto_mode_name(wish->mode));
	return true;
}

static void change(struct guest *g, const struct wish *wish)
{
	if (g->wish.carrefour != wish->carrefour || g->wish.mode != wish->mode)
		log_line(LEVEL_INFO, "domain %u (%s): Carrefour is %s, auto is %s", wish->id, wish->name,
			 wish->carrefour ? "on" : "off", auto_mode_name(wish->mode));
	guest_update(g, wish);
}

bool guests_sync(struct daemon *d, const struct wish *wish, unsigned int nr)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < d->nr; i++) {
		const struct wish *now = wish_of(wish, nr, d->guest[i]->wish.id);

		if (now) {
			change(d->guest[i], now);
		} else if (!d->guest[i]->gone) {
			d->guest[i]->gone = true;
			log_line(LEVEL_INFO, "domain %u (%s): Carrefour and auto are off", d->guest[i]->wish.id,
				 d->guest[i]->wish.name);
		}
	}
	for (i = 0; i < nr && good; i++)
		if (!guests_find(d, wish[i].id))
			good = add(d, &wish[i]);
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
