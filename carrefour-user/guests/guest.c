/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of what the daemon knows of a domain. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/units.h"
#include "guests/guest.h"

#define AGAIN_NS (60000 * MS)
#define CALM_PERIODS 60

const char *sampling_name(enum sampling sampling)
{
	static const char *const names[] = {
		[SAMPLING_NOT_YET] = "not-yet", [SAMPLING_RUNS] = "runs", [SAMPLING_TAKEN] = "taken", [SAMPLING_REFUSED] = "refused",
	};

	return names[sampling];
}

struct guest *guest_new(const struct switches *switches)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->switches = *switches;
	/* A daemon before this one has found the class and done what it asks for; since then, others may have decided. */
	g->auto_state = auto_begin();
	g->auto_state.class = g->auto_state.candidate = switches->class;
	g->applied = switches->class != CLASS_UNKNOWN;
	g->carrefour_was = switches->carrefour;
	g->follow.on = switches->mode == AUTO_ON && switches->follows;
	return g;
}

void guest_forget(struct guest *g)
{
	if (g->domain)
		domain_free(g->domain);
	g->domain = NULL;
}

bool guest_open(struct guest *g, unsigned int nr_nodes)
{
	uint64_t *cells = g->seen.matrix ? g->seen.matrix : calloc(2 * (size_t)nr_nodes * nr_nodes, sizeof(*cells));

	if (!cells)
		return false;
	g->seen.matrix = cells;
	g->period.matrix = cells + (size_t)nr_nodes * nr_nodes;
	return true;
}

void guest_close(struct guest *g)
{
	free(g->seen.matrix);
	g->seen = g->period = (struct counters){ 0 };
	free(g->sample);
	g->sample = NULL;
	g->nr_samples = g->room = 0;
}

size_t guest_bytes(const struct guest *g, unsigned int nr_nodes)
{
	size_t bytes = sizeof(*g) + g->nr_vcpus + g->room * sizeof(*g->sample);

	if (g->seen.matrix)
		bytes += 2 * sizeof(uint64_t) * nr_nodes * nr_nodes;
	return bytes + (g->domain ? domain_bytes(domain_pages(g->domain)) : 0);
}

void guest_free(struct guest *g)
{
	guest_forget(g);
	guest_close(g);
	free(g->vcpu_node);
	free(g);
}

void guest_follow(struct guest *g)
{
	guest_forget(g);
	g->follow = (struct follow){ .on = true };
}

void guest_update(struct guest *g, const struct switches *switches)
{
	enum auto_mode before = g->switches.mode;

	g->switches = *switches;
	/* Switched on, it has to learn, and to act; what it only said so far, it has learnt. */
	if (switches->mode != before) {
		g->advised = g->applied = g->changing = false;
		g->carrefour_was = switches->carrefour;
		g->follow = (struct follow){ .on = false };
	}
	if (before == AUTO_OFF)
		g->auto_state = auto_begin();
	/* Pages that were moved are not its business any more. */
	if (!switches->carrefour)
		guest_forget(g);
}

bool guest_is_at_rest(const struct guest *g)
{
	return g->calm >= CALM_PERIODS;
}

bool guest_says(struct guest *g, enum topic topic, int error, uint64_t now)
{
	struct said *s = &g->said[topic];

	if (!error) {
		s->over = true;
		return false;
	}
	if (error == s->error && (!s->over || now - s->at < AGAIN_NS)) {
		s->over = false;
		return false;
	}
	*s = (struct said){ .error = error, .at = now };
	return true;
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
