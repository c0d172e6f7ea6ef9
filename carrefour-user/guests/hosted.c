/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of all domains follows what Xen says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guests/hosted.h"

static void write_uuid(char to[UUID_SIZE], const uint8_t uuid[16])
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static struct hosted *find(const struct census *c, unsigned int id)
{
	unsigned int low = 0, high = c->nr;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (c->hosted[middle].xen.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->nr && c->hosted[low].xen.id == id ? &c->hosted[low] : NULL;
}

/* The number of one that is gone may be another one's. */
static bool is_same(const struct xen_domain *a, const struct xen_domain *b)
{
	return a->id == b->id && !memcmp(a->uuid, b->uuid, sizeof(a->uuid));
}

bool hosted_sync(struct census *c, const struct xen_domain *domain, unsigned int nr)
{
	struct hosted *new = calloc(nr + 1, sizeof(*new));
	unsigned int i;

	if (!new)
		return false;
	for (i = 0; i < nr; i++) {
		const struct hosted *old = find(c, domain[i].id);

		if (old && is_same(&old->xen, &domain[i]))
			new[i] = *old;
		new[i].xen = domain[i];
		write_uuid(new[i].uuid, domain[i].uuid);
	}
	free(c->hosted);
	c->hosted = new;
	c->nr = nr;
	return true;
}

static int by_identity(const void *a, const void *b)
{
	const struct hosted *p = *(struct hosted *const *)a, *q = *(struct hosted *const *)b;
	int order = strcmp(p->uuid, q->uuid);

	if (!order)
		order = strcmp(p->name, q->name);
	return order ? order : p->xen.id < q->xen.id ? -1 : 1;
}

void hosted_find_twins(struct census *c)
{
	struct hosted **sorted = calloc(c->nr + 1, sizeof(*sorted));
	unsigned int i;

	for (i = 0; i < c->nr; i++) {
		/* Without memory nothing is said of any, rather than twice of one. */
		c->hosted[i].twin = !sorted;
		if (sorted)
			sorted[i] = &c->hosted[i];
	}
	if (!sorted)
		return;
	if (c->nr)
		qsort(sorted, c->nr, sizeof(*sorted), by_identity);
	for (i = 1; i < c->nr; i++)
		sorted[i - 1]->twin = !strcmp(sorted[i - 1]->uuid, sorted[i]->uuid) &&
				      !strcmp(sorted[i - 1]->name, sorted[i]->name);
	free(sorted);
}

void hosted_free(struct census *c)
{
	free(c->hosted);
	*c = (struct census){ 0 };
}
