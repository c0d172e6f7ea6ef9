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

/* Home nodes that follow the affinity, and their weights, change with it: nobody has set them. */
static bool is_same(const struct xen_policy *a, const struct xen_policy *b)
{
	if (strcmp(a->name, b->name) || a->follows_affinity != b->follows_affinity)
		return false;
	return a->follows_affinity || (a->home == b->home && a->nr_weights == b->nr_weights &&
				       !memcmp(a->weight, b->weight, a->nr_weights * sizeof(*a->weight)));
}

/*
 * Only its name: home nodes and weights are those that there are by now. ECANCELED: that the class has changed is no reason
 * any more, as somebody has set a policy since.
 */
static int set_policy(struct guest *g)
{
	struct xen_policy now;
	int error = xen_policy_get(g->switches.id, &now);

	if (error || !strcmp(now.name, g->advice.policy))
		return error;
	if (g->changing && !is_same(&now, &g->changed_under))
		return ECANCELED;
	if (!store_note_class(g->switches.id, CLASS_UNKNOWN))
		return EIO;
	error = xen_policy_set(g->switches.id, &now, g->advice.policy);
	if (error)
		return error;
	g->changed_under = now;
	g->changed_under.name = g->advice.policy;
	/* First-touch has no place for what is touched already. */
	if (g->advice.class == CLASS_HIGH)
		guest_follow(g);
	return 0;
}

/* The class is what it was, until samples of the policy that there is now say otherwise for as long as it takes. */
static void take_back(struct guest *g)
{
	auto_take_back(&g->auto_state, &g->changed_from);
	store_note_class(g->switches.id, g->auto_state.class);
	guest_log(g, LEVEL_INFO, "auto leaves the policy that was set meanwhile");
}

/* False: xenstore cannot be written. */
static bool tell(const struct guest *g, const struct advice *a)
{
	const struct chosen chosen = {
		.class = a->class, .carrefour = a->carrefour, .follows = g->follow.on, .carrefour_was = g->carrefour_was,
	};
	bool left;

	/* What the next daemon goes by comes last. */
	if (!store_tell_guest(g->switches.id, a->class != CLASS_HIGH) || !store_write_class(g->switches.id, &chosen, &left))
		return false;
	if (left)
		guest_log(g, LEVEL_INFO, "auto leaves Carrefour %s, as it was switched meanwhile", g->carrefour_was ? "off" : "on");
	return true;
}

/* Returns whether it is done. What fails is tried again in the next period, and said once. */
static bool apply(struct guest *g, uint64_t now)
{
	const struct advice *a = &g->advice;
	int error = set_policy(g);

	if (error == ECANCELED) {
		take_back(g);
		return true;
	}
	if (!error && !tell(g, a))
		error = EIO;
	/* A domain that is gone is told of by its next counters. */
	if (guest_says(g, TOPIC_AUTO, error == ESRCH ? 0 : error, now))
		guest_log(g, LEVEL_WARNING, "auto cannot set %s%s: %s; tried again each period", a->policy,
			  a->carrefour ? ",carrefour" : "", error == EIO ? "xenstore cannot be written" : strerror(error));
	return !error;
}

/* Between two changes it is the administrator's turn: what was set by hand stays. */
static void class_changed(struct guest *g, const struct auto_state *before)
{
	if (!g->changing)
		g->changed_from = *before;
	g->carrefour_was = g->switches.carrefour;
	g->changed_under = g->policy;
	g->changing = true;
	g->applied = false;
}

void apply_advice(const struct daemon *d, struct guest *g)
{
	struct auto_input in = auto_input_of(&g->in, &g->out.verdict, g->policy.name, g->switches.carrefour);
	struct auto_state before = g->auto_state;
	char text[EXPLAIN_SIZE];

	if (g->switches.mode == AUTO_OFF)
		return;
	g->advice = auto_step(&g->auto_state, &d->config, &in);
	if (g->advice.why == AUTO_CHANGED)
		class_changed(g, &before);
	if (g->advice.why == AUTO_CHANGED || !g->advised) {
		auto_explain(text, sizeof(text), &g->advice);
		guest_log(g, LEVEL_INFO, "auto %s %s", g->switches.mode == AUTO_ON ? "chooses" : "would choose", text);
	}
	g->advised = true;
	/*
	 * One whose vCPUs have not run may still be built. What it is built of, and boots with, is shared by all; under
	 * first-touch it would be on the node of the vCPU that boots, and be taken for an imbalance of the guest.
	 */
	if (g->switches.mode == AUTO_ON && !g->applied && g->seen.guest_ns)
		g->applied = apply(g, d->now);
	g->changing &= !g->applied;
}
