/* The life of what the daemon knows of a domain. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"

static const char *const modes[NR_AUTO_MODES] = { "off", "advise", "on" };

const char *auto_mode_name(enum auto_mode mode)
{
	return modes[mode];
}

struct guest *guest_new(const struct wish *wish)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->wish = *wish;
	g->metrics.id = wish->id;
	g->metrics.name = g->wish.name;
	/* A daemon before this one has found the class and done what it asks for; since then, others may have decided. */
	g->auto_state = auto_begin();
	g->auto_state.class = g->auto_state.candidate = wish->class;
	g->applied = wish->class != CLASS_UNKNOWN;
	g->follow.on = wish->mode == AUTO_ON && wish->follows;
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

void guest_update(struct guest *g, const struct wish *wish)
{
	enum auto_mode before = g->wish.mode;

	g->wish = *wish;
	/* Switched on, it has to learn, and to act; what it only said so far, it has learnt. */
	if (wish->mode != before) {
		g->advised = g->applied = false;
		g->follow = (struct follow){ .on = false };
	}
	if (before == AUTO_OFF)
		g->auto_state = auto_begin();
	/* Pages that were moved are not its business any more. */
	if (!wish->carrefour)
		forget_pages(g);
}
