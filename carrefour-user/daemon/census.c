/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/breathe.h"
#include "daemon/census.h"
#include "process/log.h"
#include "store/store.h"

#define NAME_NS (50000 * MS)	/* a new name is seen within a minute */

static int list(struct daemon *d)
{
	struct xen_domain *domain = NULL;
	unsigned int nr;
	int error = xen_domains(&domain, &nr);

	if (!error && !hosted_sync(&d->census, domain, nr))
		error = ENOMEM;
	free(domain);
	return error;
}

/* It may be renamed at any time. Without an answer it keeps the name that it had. */
static void learn_name(struct hosted *h, uint64_t now)
{
	char name[NAME_SIZE];
	bool found = store_name(h->xen.id, name);

	if (found || !h->named)
		memcpy(h->name, name, sizeof(name));
	h->named |= found;
	h->named_at = now;
}

/* What cannot be asked is not known; a domain that is gone, the next list leaves out. */
static void ask(const struct daemon *d, struct hosted *h)
{
	const struct guest *g = guests_find(d, h->xen.id);
	bool known = g && g->looked;	/* since this period began */

	if (!h->named || d->now - h->named_at >= NAME_NS)
		learn_name(h, d->now);
	if (known)
		h->policy = g->policy;
	h->has_policy = known || (!h->xen.pv && !xen_policy_get(h->xen.id, &h->policy));
	h->has_memory = !h->xen.pv && !xen_memory(h->xen.id, h->bytes);
	h->has_moves = !h->xen.pv && !xen_moves(h->xen.id, h->moves);
}

void census_look(struct daemon *d)
{
	struct census *c = &d->census;
	int error = list(d);
	unsigned int i;

	c->known = !error;
	if (error && error != c->error)
		log_line(LEVEL_WARNING, "cannot ask which domains there are: %s; no metrics meanwhile", strerror(error));
	c->error = error;
	for (i = 0; c->known && i < c->nr && breathe(d); i++)
		ask(d, &c->hosted[i]);
	hosted_find_twins(c);
}
