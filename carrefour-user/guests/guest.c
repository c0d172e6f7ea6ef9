/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of what the daemon knows of a domain. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "guests/guest.h"

struct guest *guest_new(const struct switches *switches)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->switches = *switches;
	g->metrics.id = switches->id;
	g->metrics.name = g->switches.name;
	/* A daemon before this one has found the class and done what it asks for; since then, others may have decided. */
	g->auto_state = auto_begin();
	g->auto_state.class = g->auto_state.candidate = switches->class;
	g->applied = switches->class != CLASS_UNKNOWN;
	g->follow.on = switches->mode == AUTO_ON && switches->follows;
	return g;
}

static void forget_pages(struct guest *g)
{
	if (g->domain)
		domain_free(g->domain);
	g->domain = NULL;
}

void guest_free(struct guest *g)
{
	forget_pages(g);
	free(g->vcpu_node);
	free(g->sample);
	free(g);
}

void guest_follow(struct guest *g)
{
	forget_pages(g);
	g->follow = (struct follow){ .on = true };
}

void guest_update(struct guest *g, const struct switches *switches)
{
	enum auto_mode before = g->switches.mode;

	g->switches = *switches;
	/* Switched on, it has to learn, and to act; what it only said so far, it has learnt. */
	if (switches->mode != before) {
		g->advised = g->applied = false;
		g->follow = (struct follow){ .on = false };
	}
	if (before == AUTO_OFF)
		g->auto_state = auto_begin();
	/* Pages that were moved are not its business any more. */
	if (!switches->carrefour)
		forget_pages(g);
}

void guest_log(const struct guest *g, enum level level, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_line(level, "domain %u (%s): %s", g->switches.id, g->switches.name, text);
}
