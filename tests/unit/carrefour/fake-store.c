/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake-xen.h"
#include "store/store.h"

bool store_open(void)
{
	return true;
}

void store_close(void)
{
}

bool store_check(void)
{
	return !fake_enter(CALL_STORE, 0);
}

int store_fd(void)
{
	return -1;
}

void store_read(void)
{
}

bool store_switches(struct switches **switches, unsigned int *nr)
{
	unsigned int i;

	if (!fake.changed)
		return false;
	*nr = 0;
	*switches = calloc(fake.nr + 1, sizeof(**switches));
	if (!*switches)
		return false;
	fake.changed = false;
	for (i = 0; i < fake.nr; i++) {
		struct fake_guest *g = &fake.guest[i];

		if (!g->gone && (g->switches.carrefour || g->switches.mode != AUTO_OFF))
			(*switches)[(*nr)++] = g->switches;
	}
	return true;
}

bool store_keeps_off(unsigned int domid)
{
	const struct fake_guest *g = fake_guest(domid);

	return g && g->keeps_off;
}

void store_again(void)
{
	fake.changed = true;
}

bool store_name(unsigned int domid, char name[NAME_SIZE])
{
	const struct fake_guest *g = fake_guest(domid);

	snprintf(name, NAME_SIZE, "%u", domid);
	if (fake_enter(CALL_NAME, domid) || !g || !*g->switches.name)
		return false;
	memcpy(name, g->switches.name, NAME_SIZE);
	return true;
}

/* As a toolstack that takes auto's word for the policy. */
bool store_write_class(unsigned int domid, const struct chosen *chosen, bool *left)
{
	struct fake_guest *g = fake_guest(domid);

	if (fake_enter(CALL_WRITE, domid) || !g || g->gone || g->switches.mode != AUTO_ON)
		return false;
	*left = g->switches.carrefour != chosen->carrefour_was;
	if (!*left)
		g->switches.carrefour = chosen->carrefour;
	g->class = chosen->class;
	g->switches.follows = chosen->follows;
	g->switches.class = chosen->class;
	fake.changed = true;
	return true;
}

/* Not one of CALL_WRITE: tests have it fail later, with half done. */
bool store_note_class(unsigned int domid, enum auto_class class)
{
	struct fake_guest *g = fake_guest(domid);

	if (!g || g->gone || g->switches.mode != AUTO_ON)
		return false;
	g->switches.class = class;
	fake.changed = true;
	return true;
}

bool store_write_followed(unsigned int domid)
{
	struct fake_guest *g = fake_guest(domid);

	if (fake_enter(CALL_WRITE, domid) || !g || g->gone || g->switches.mode != AUTO_ON)
		return false;
	g->switches.follows = false;
	fake.changed = true;
	return true;
}

bool store_tell_guest(unsigned int domid, bool page_events)
{
	struct fake_guest *g = fake_guest(domid);

	if (fake_enter(CALL_WRITE, domid) || !g || g->gone)
		return false;
	g->page_events = page_events;
	return true;
}
