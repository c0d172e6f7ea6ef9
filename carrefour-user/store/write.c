/* SPDX-License-Identifier: GPL-2.0-only */
/* What auto writes to xenstore: only where it still has a say. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#include "store/private.h"
#include "store/store.h"

#define WRITE_TRIES 8

struct node {
	const char *path, *value;
	const char *was;	/* only if it is still so: 1, or anything else; NULL: in any case */
};

/* What was read may change until the transaction ends: then it ends with EAGAIN. */
static bool has(xs_transaction_t t, const char *path, const char *value)
{
	char *there = xs_read(store_xs, t, path, NULL);
	bool good = there && (!value || !strcmp(there, value));

	free(there);
	return good;
}

/* False: no answer. *left: somebody has changed it meanwhile. */
static bool write_node(xs_transaction_t t, const char *path, const struct node *node, bool *left)
{
	if (node->was) {
		char *there = xs_read(store_xs, t, path, NULL);
		bool changed = store_is(there, "1") != store_is(node->was, "1"), known = there || errno == ENOENT;

		free(there);
		if (!known)
			return false;
		if (changed) {
			*left = true;
			return true;
		}
	}
	return xs_write(store_xs, t, path, node->value, strlen(node->value));
}

/*
 * In a transaction: the domain may be going, and no node of it may be left then; or what is @path no longer has @value, for
 * which this was to be written.
 */
static bool write_if(const char *path, const char *value, const char *domain, const struct node *node, unsigned int nr,
		     bool *left)
{
	unsigned int try, i;

	for (try = 0; store_xs && try < WRITE_TRIES; try++) {
		xs_transaction_t t = xs_transaction_start(store_xs);
		bool good;

		if (t == XBT_NULL)
			return false;
		good = has(t, path, value);
		*left = false;
		for (i = 0; good && i < nr; i++) {
			char name[128];

			snprintf(name, sizeof(name), "%s/%s", domain, node[i].path);
			good = write_node(t, name, &node[i], left);
		}
		if (xs_transaction_end(store_xs, t, !good))
			return good;
		if (errno != EAGAIN)
			return false;
	}
	return false;
}

static const char *digit(bool on)
{
	return on ? "1" : "0";
}

/* Once auto is off, nothing of it is left behind. */
static bool write_for_toolstack(unsigned int domid, const struct node *node, unsigned int nr, bool *left)
{
	char domain[32], mode[64];

	snprintf(domain, sizeof(domain), "/libxl/%u", domid);
	snprintf(mode, sizeof(mode), "%s/numa-policy/auto", domain);
	return write_if(mode, "1", domain, node, nr, left);
}

bool store_write_class(unsigned int domid, const struct chosen *chosen, bool *left)
{
	const struct node node[] = {
		{ "numa-policy/auto-class", class_name(chosen->class), NULL },
		{ "numa-policy/carrefour", digit(chosen->carrefour), digit(chosen->carrefour_was) },
		{ "numa-policy/auto-follows", digit(chosen->follows), NULL },
	};

	return write_for_toolstack(domid, node, 3, left);
}

bool store_note_class(unsigned int domid, enum auto_class class)
{
	const struct node node = { "numa-policy/auto-class", class_name(class), NULL };
	bool left;

	return write_for_toolstack(domid, &node, 1, &left);
}

bool store_write_followed(unsigned int domid)
{
	const struct node node = { "numa-policy/auto-follows", digit(false), NULL };
	bool left;

	return write_for_toolstack(domid, &node, 1, &left);
}

bool store_tell_guest(unsigned int domid, bool page_events)
{
	const struct node node = { "control/page-events", digit(page_events), NULL };
	char domain[32];
	bool left;

	snprintf(domain, sizeof(domain), "/local/domain/%u", domid);
	return write_if(domain, NULL, domain, &node, 1, &left);
}
