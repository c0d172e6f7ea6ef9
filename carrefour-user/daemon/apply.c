/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `auto` of a guest: says what it would choose, or chooses it. Static policy by the domctl that libxl uses for it, and what
 * libxl says to the guest then; the configuration that libxl keeps stays, as it is what was asked for.
 */
#include <errno.h>
#include <string.h>

#include "daemon/apply.h"
#include "decide/explain.h"
#include "store/store.h"

static bool is_same(const struct xen_policy *a, const struct xen_policy *b)
{
	return !strcmp(a->name, b->name) && a->home == b->home && a->follows_affinity == b->follows_affinity &&
	       a->max_pause_us == b->max_pause_us && a->nr_weights == b->nr_weights &&
	       !memcmp(a->weight, b->weight, a->nr_weights * sizeof(*a->weight));
}

/* ECANCELED: somebody has set another policy, home nodes or weights since this period began, and that stays. */
static int set_policy(struct guest *g)
{
	struct xen_policy now;
	int error;

	if (!strcmp(g->policy.name, g->advice.policy))
		return 0;
	error = xen_policy_get(g->switches.id, &now);
	if (error)
		return error;
	if (!is_same(&now, &g->policy))
		return ECANCELED;
	error = xen_policy_set(g->switches.id, &now, g->advice.policy);
	/* First-touch has no place for what is touched already. */
	if (!error && g->advice.class == CLASS_HIGH)
		guest_follow(g);
	return error;
}

/* Returns whether it is done. What fails is tried again in the next period, and said once. */
static bool apply(struct guest *g, uint64_t now)
{
	const struct advice *a = &g->advice;
	int error = set_policy(g);

	if (!error && !store_tell_guest(g->switches.id, a->class != CLASS_HIGH))
		error = EIO;
	/* What the next daemon goes by comes last. */
	if (!error && !store_write_class(g->switches.id, a->class, a->carrefour, g->follow.on))
		error = EIO;
	if (guest_says(g, TOPIC_AUTO, error == ECANCELED ? 0 : error, now))
		guest_log(g, LEVEL_WARNING, "auto cannot set %s%s: %s; tried again each period", a->policy,
			  a->carrefour ? ",carrefour" : "", error == EIO ? "xenstore cannot be written" : strerror(error));
	return !error;
}

void apply_advice(const struct daemon *d, struct guest *g)
{
	struct auto_input in = auto_input_of(&g->in, &g->out.verdict, g->policy.name, g->switches.carrefour);
	char text[EXPLAIN_SIZE];

	if (g->switches.mode == AUTO_OFF)
		return;
	g->advice = auto_step(&g->auto_state, &d->config, &in);
	/* Between two changes it is the administrator's turn: what was set by hand stays. */
	if (g->advice.why == AUTO_CHANGED)
		g->applied = false;
	if (g->advice.why == AUTO_CHANGED || !g->advised) {
		auto_explain(text, sizeof(text), &g->advice, &d->config);
		guest_log(g, LEVEL_INFO, "auto %s %s", g->switches.mode == AUTO_ON ? "chooses" : "would choose", text);
	}
	g->advised = true;
	/*
	 * One whose vCPUs have not run may still be built. What it is built of, and boots with, is shared by all; under
	 * first-touch it would be on the node of the vCPU that boots, and be taken for an imbalance of the guest.
	 */
	if (g->switches.mode == AUTO_ON && !g->applied && g->seen.guest_ns)
		g->applied = apply(g, d->now);
}
