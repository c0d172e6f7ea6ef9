/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "daemon/breathe.h"
#include "daemon/heal-act.h"
#include "process/clock.h"
#include "process/log.h"
#include "store/store.h"

#define ACT_MS 2000		/* of a period at most, and a quarter of it */
#define STUCK_NS (3600000 * MS)
#define STUCK_MAX_NS (24 * STUCK_NS)
#define STEP_PAGES 4096		/* of a call: 8 ms, by docs/results/move-cost.md; others are served meanwhile */

static void relieved(struct healing *h, uint64_t nodes)
{
	unsigned int n;

	for (n = 0; n < NODES_MAX; n++)
		if (nodes >> n & 1)
			h->crowded_ns[n] = 0;
}

void heal_act_begin(struct daemon *d, const struct heal_host *host, const struct heal_plan *plan, uint64_t nodes)
{
	struct healing *h = &d->healing;
	unsigned int i;

	for (i = 0; i < plan->nr && h->nr_tasks < HEALING_TASKS; i++) {
		const struct heal_action *a = &plan->action[i];
		const struct heal_vm *vm = &host->vm[a->vm];

		h->task[h->nr_tasks++] = (struct healing_task){
			.id = vm->id, .at = d->now, .home = a->home, .before = vm->affinity ? vm->affinity : UINT64_MAX, .left = a->bytes,
			.nodes = nodes,
		};
		if (a->why == HEAL_RELIEVE)
			relieved(h, vm->affinity);
	}
}

static void next_task(struct healing *h)
{
	memmove(&h->task[0], &h->task[1], --h->nr_tasks * sizeof(h->task[0]));
}

/* Of moving: that Xen does not do it for this domain at all. */
static bool is_unmovable(int error)
{
	return error == EXDEV || error == EEXIST || error == EOPNOTSUPP;
}

static void end_task(struct daemon *d, const char *why)
{
	struct healing *h = &d->healing;
	const struct healing_task *t = &h->task[0];
	const struct healing_vm *vm = healing_find(h, t->id);

	if (vm)
		log_line(why ? LEVEL_WARNING : LEVEL_INFO, "heal has ended with %s: %s%s%llu MiB moved, %llu pages stay",
			 vm->name, why ? why : "", why ? "; " : "", (unsigned long long)(t->moved << PAGE_SHIFT) / MIB,
			 (unsigned long long)t->stays);
	next_task(h);
}

/* Its vCPUs go back, to where its memory is, if they were sent away at all. */
static void undo(struct daemon *d, const struct healing_task *t, int error)
{
	struct healing_vm *vm = healing_find(&d->healing, t->id);

	if (vm && is_unmovable(error))
		vm->unmovable = true;
	if (t->moved)
		return;
	heal_ledger_undone(&d->healing.ledger, t->id, t->at);
	if (error != ESRCH && t->sent)
		xen_prefer(t->id, t->before);
}

/* All was looked at, and most of it is where it was: pages in use, no large pieces free. A minute later it is no different. */
static void is_stuck(struct daemon *d, const struct healing_task *t)
{
	struct healing_vm *vm = healing_find(&d->healing, t->id);

	if (t->gfn != XEN_REBALANCED || t->moved << PAGE_SHIFT >= t->left)
		return;
	if (vm) {
		vm->stuck_ns = vm->stuck_ns ? 2 * vm->stuck_ns : STUCK_NS;
		if (vm->stuck_ns > STUCK_MAX_NS)
			vm->stuck_ns = STUCK_MAX_NS;
		vm->stuck_until = d->now + vm->stuck_ns;
	}
	undo(d, t, 0);
}

/* *left: bytes that are elsewhere, and are not to stay there. */
static int look_at_memory(struct healing_task *t, uint64_t *left)
{
	uint64_t bytes[NODES_MAX], off = 0;
	unsigned int n;
	int error = xen_memory(t->id, bytes);

	for (n = 0; !error && n < NODES_MAX; n++)
		if (!(t->home >> n & 1))
			off += bytes[n];
	*left = off > t->may_stay ? off - t->may_stay : 0;
	return error;
}

static int move(struct daemon *d, struct healing_task *t, const char *policy, uint64_t room[NODES_MAX])
{
	uint64_t pages = t->left >> PAGE_SHIFT, moved = 0;
	int error;

	if (pages > STEP_PAGES)
		pages = STEP_PAGES;
	/* Without a policy Xen knows no place for a page. */
	if (!strcmp(policy, "none"))
		error = xen_gather(t->id, t->home, &t->gfn, pages, room, &moved, &t->stays);
	else
		error = xen_rebalance(t->id, &t->gfn, pages, &moved, &t->stays);
	t->moved += moved;
	t->may_move -= moved < t->may_move ? moved : t->may_move;
	heal_budget_took(&d->healing.budget, d->now, moved << PAGE_SHIFT);
	return error ?: look_at_memory(t, &t->left);
}

static int prefer(struct daemon *d, struct healing_task *t)
{
	struct healing_vm *vm = healing_find(&d->healing, t->id);
	uint64_t wanted = t->left, off;
	int error = look_at_memory(t, &off);

	if (!error) {
		t->sent = true;
		error = xen_prefer(t->id, t->home);
	}
	t->prefers = !error;
	t->may_stay = off > wanted ? off - wanted : 0;
	t->may_move = wanted ? 2 * (wanted >> PAGE_SHIFT) + STEP_PAGES : 0;
	if (vm && !error)
		vm->home_at = d->now;
	return error;
}

/* By pinning, once a period; what Xen does not say, the next call to it does. */
static const char *is_sent_elsewhere(struct daemon *d, struct healing_task *t)
{
	uint64_t expected = t->prefers ? t->home : t->before, now;
	struct xen_domain_load load;

	if (t->asked == d->period + 1)
		return NULL;
	t->asked = d->period + 1;
	if (store_keeps_off(t->id))
		return "it has auto=off now, or xenstore does not answer";
	if (xen_domain_load(t->id, &load))
		return NULL;
	if ((load.each & t->nodes) != t->nodes)
		return "its CPUs are named now";
	now = load.may & load.prefers & t->nodes;
	/* Nothing that it may prefer is as good as all. */
	return (now ? now : t->nodes) != (expected & t->nodes) ? "its vCPUs have been sent elsewhere" : NULL;
}

/* The user may have said where it is to be since it was decided. */
static const char *is_not_ours(struct daemon *d, struct healing_task *t, const struct xen_policy *policy)
{
	if (guests_find(d, t->id))
		return "Carrefour or auto looks after it now";
	if (!policy->follows_affinity)
		return "it has home nodes of its own now";
	return is_sent_elsewhere(d, t);
}

/* What is left is for the next look. */
static bool is_done(const struct healing_task *t)
{
	return !(t->left >> PAGE_SHIFT) || !t->may_move || t->gfn == XEN_REBALANCED;
}

static void go_on(struct daemon *d, uint64_t room[NODES_MAX])
{
	struct healing_task *t = &d->healing.task[0];
	struct xen_policy policy;
	int error = xen_policy_get(t->id, &policy);
	const char *not_ours = error ? NULL : is_not_ours(d, t, &policy);

	if (not_ours) {
		end_task(d, not_ours);
		return;
	}
	if (!error && !t->prefers)
		error = prefer(d, t);
	else if (!error && t->left >> PAGE_SHIFT)
		error = move(d, t, policy.name, room);
	if (error) {
		undo(d, t, error);
		end_task(d, strerror(error));
	} else if (t->prefers && is_done(t)) {
		is_stuck(d, t);
		end_task(d, NULL);
	}
}

void heal_act(struct daemon *d)
{
	unsigned int n, ms = d->config.period_ms / 4 < ACT_MS ? d->config.period_ms / 4 : ACT_MS;
	uint64_t until = clock_ns() + ms * MS, reserve = d->config.node_reserve_mb * MIB, room[NODES_MAX];

	if (d->config.heal != HEAL_ON)
		d->healing.nr_tasks = 0;
	for (n = 0; n < NODES_MAX; n++)
		room[n] = d->node_free[n] > reserve ? d->node_free[n] - reserve : 0;
	while (d->healing.nr_tasks && clock_ns() < until && breathe(d) && !d->reloads)
		go_on(d, room);
}
