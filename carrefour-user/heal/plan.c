/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the action that brings most for what it moves, takes it for done, and looks for the next. */
#include <stdlib.h>
#include <string.h>

#include "heal/change.h"

#define GOOD 0.90		/* part of accesses that is local, from which a VM is left alone */
#define LEAST_MOVE (64 * MIB)	/* so that each action has a price, and a part of a VM is worth a call */
#define SIZES 2			/* of sets of groups that are tried */

struct search {
	struct heal_state state;
	const struct heal_rules *rules;
	const struct heal_host *host;
	struct heal_flow flow;		/* of the state as it is */
	double worth;
	uint64_t may_move;
	bool *acted;
	/* The best that was found. */
	bool found;
	double score;
	unsigned int nr;
	struct heal_action action[2];
	struct heal_place place[2];
};

static const char *const whys[] = {
	[HEAL_FOLLOW] = "follow", [HEAL_GATHER] = "gather", [HEAL_RELIEVE] = "relieve", [HEAL_MAKE_ROOM] = "make-room",
};
_Static_assert(sizeof(whys) / sizeof(*whys) == NR_HEAL_WHYS, "one name each");

static const char *const lefts[] = {
	[LEFT_ACTED] = "acted", [LEFT_GOOD] = "good", [LEFT_OFF] = "off", [LEFT_NAMED] = "named", [LEFT_UNMOVABLE] = "unmovable",
	[LEFT_WATCHED] = "watched", [LEFT_STOPPED] = "stopped", [LEFT_YOUNG] = "young", [LEFT_COOLING] = "cooling",
	[LEFT_STRAYS] = "strays", [LEFT_ALONE] = "alone", [LEFT_NO_GAIN] = "no-gain", [LEFT_NO_ROOM] = "no-room",
	[LEFT_NOT_PAID] = "not-paid", [LEFT_BUDGET] = "budget", [LEFT_LATER] = "later",
};
_Static_assert(sizeof(lefts) / sizeof(*lefts) == NR_HEAL_LEFT, "one name each");

const char *heal_why_name(unsigned int why)
{
	return why < NR_HEAL_WHYS ? whys[why] : NULL;
}

const char *heal_left_name(unsigned int left)
{
	return left < NR_HEAL_LEFT ? lefts[left] : NULL;
}

static void look(struct search *s)
{
	s->flow = heal_flow_of(&s->state);
	s->worth = heal_worth(&s->state, &s->flow);
}

/* For how long a node of its home has had more work than cores; 0: none has, or not for long enough. */
static uint64_t crowded_ns(const struct search *s, unsigned int v)
{
	const struct heal_groups *g = &s->state.groups;
	uint64_t ns = 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		if (s->state.place[v].home >> i & 1 && s->state.work[i] > g->cores[i] && g->crowded_ns[i] > ns)
			ns = g->crowded_ns[i];
	return ns < s->rules->crowded_ns ? 0 : ns;
}

/* It is busy enough to want the bandwidth of all of its nodes, and others hardly use them. */
static bool is_alone(const struct search *s, unsigned int v)
{
	const struct heal_groups *g = &s->state.groups;
	uint64_t which = heal_spans(&s->state, v) & g->with_cpus;
	double cores = 0, work = 0, all = 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		all += g->cores[i];
		if (which >> i & 1) {
			cores += g->cores[i];
			work += s->state.work[i];
		}
	}
	return s->host->vm[v].load > all / g->nr / 2 && work - s->host->vm[v].load < s->rules->alone * cores;
}

/* Whether there may be an action for it at all: LEFT_ACTED, or why not. */
static enum heal_left allowed(const struct search *s, unsigned int v)
{
	const struct heal_vm *vm = &s->host->vm[v];

	return vm->off ? LEFT_OFF : vm->named ? LEFT_NAMED : vm->unmovable ? LEFT_UNMOVABLE : vm->watched ? LEFT_WATCHED :
	       s->host->stopped ? LEFT_STOPPED : vm->age_ns < s->rules->young_ns ? LEFT_YOUNG :
	       vm->strays > s->rules->strays ? LEFT_STRAYS : LEFT_ACTED;
}

static uint64_t cost_of(const struct search *s, unsigned int v, uint64_t bytes)
{
	/* Somebody moves it, and at worst the VM waits as long. */
	return (1 + s->host->vm[v].load) * s->rules->gib_ns * bytes / (1 << 30);
}

/* Soon enough for what may end at any time; and if it is busier than usual, as if it were not. */
static bool is_paid(const struct search *s, const struct heal_action *a, uint64_t cost_ns, double gain)
{
	const struct heal_vm *vm = &s->host->vm[a->vm];
	uint64_t lasts = vm->age_ns, within;

	if (a->why == HEAL_RELIEVE && crowded_ns(s, a->vm) < lasts)
		lasts = crowded_ns(s, a->vm);
	within = lasts / s->rules->age_part;
	if (within > s->rules->payback_ns)
		within = s->rules->payback_ns;
	if (vm->usual < vm->load)
		gain *= vm->usual / vm->load;
	return cost_ns <= gain * within;
}

/* Relief, and another home alone, are not for a trifle; memory that moves is paid for. All but relief make its accesses local. */
static bool is_enough(const struct search *s, const struct heal_action *a, double gain, double local)
{
	if (a->why == HEAL_RELIEVE)
		return gain >= s->rules->least_relief;
	return gain > 0 && local > a->local_before + (a->why == HEAL_FOLLOW ? s->rules->least_gain : 0);
}

/* What can be done counts, and else the reason that comes nearest to it. */
static void nearer(enum heal_left *left, enum heal_left now)
{
	if (*left != LEFT_ACTED && (now == LEFT_ACTED || now > *left))
		*left = now;
}

static struct heal_action action_of(const struct search *s, unsigned int v, const struct heal_place *to, uint64_t bytes,
				    enum heal_why why)
{
	/* A batch that vCPUs wait for is 2 MiB. */
	return (struct heal_action){
		.vm = v, .why = why, .home = heal_nodes_of(&s->state.groups, to->home), .bytes = bytes,
		.cost_ns = cost_of(s, v, bytes), .pause_ns = bytes ? s->rules->gib_ns / 512 : 0,
		.local_before = heal_local(&s->state, &s->flow, v),
	};
}

/* A change of place, or one after another that makes room for it. All is as it was afterwards. */
static enum heal_left weigh(struct search *s, const struct heal_action *action, const struct heal_place *place, unsigned int nr)
{
	struct heal_place before[2];
	struct heal_flow flow;
	double gain, local[2], score;
	uint64_t bytes = 0, cost = 0;
	bool cores = true;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		before[i] = s->state.place[action[i].vm];
		heal_state_put(&s->state, action[i].vm, &place[i]);
		bytes += action[i].bytes;
		cost += action[i].cost_ns;
	}
	flow = heal_flow_of(&s->state);
	gain = heal_worth(&s->state, &flow) - s->worth;
	for (i = 0; i < nr; i++) {
		cores = cores && (place[i].home == before[i].home || heal_cores_do(&s->state, action[i].vm, place[i].home));
		local[i] = heal_local(&s->state, &flow, action[i].vm);
	}
	for (i = nr; i--; )
		heal_state_put(&s->state, action[i].vm, &before[i]);
	if (!cores)
		return LEFT_NO_ROOM;
	if (!is_enough(s, &action[nr - 1], gain, local[nr - 1]))
		return LEFT_NO_GAIN;
	if (!is_paid(s, &action[nr - 1], cost, gain))
		return LEFT_NOT_PAID;
	score = gain / (bytes + LEAST_MOVE);
	if (s->found && score <= s->score)
		return LEFT_ACTED;
	s->found = true;
	s->score = score;
	s->nr = nr;
	for (i = 0; i < nr; i++) {
		s->action[i] = action[i];
		s->action[i].local_after = local[i];
		s->place[i] = place[i];
	}
	s->action[nr - 1].gain = gain;
	return LEFT_ACTED;
}

/* With all of its memory on one group, and free to leave it. */
static bool can_make_room(const struct search *s, unsigned int v, unsigned int from)
{
	const struct heal_place *p = &s->state.place[v];

	return allowed(s, v) == LEFT_ACTED && !s->acted[v] && s->host->vm[v].calm_ns >= s->rules->cooldown_ns && p->all &&
	       p->home == 1ULL << from && heal_spans(&s->state, v) == p->home;
}

/* Whether of two VMs the first is the better one to make room for @lacks bytes: the smallest that does, or the largest of all. */
static bool makes_better_room(const struct search *s, unsigned int a, unsigned int b, uint64_t lacks)
{
	uint64_t of_a = s->state.place[a].all, of_b = s->state.place[b].all;

	if (of_a >= lacks && of_b >= lacks)
		return of_a < of_b;
	return of_a > of_b;
}

/* nr_vms: there is none. It moves, and so does as much of @but. */
static unsigned int who_makes_room(const struct search *s, unsigned int but, unsigned int from, uint64_t lacks)
{
	unsigned int v, best = s->host->nr_vms;

	for (v = 0; v < s->host->nr_vms; v++)
		if (v != but && s->state.place[v].all <= s->may_move / 2 && can_make_room(s, v, from) &&
		    (best == s->host->nr_vms || makes_better_room(s, v, best, lacks)))
			best = v;
	return best;
}

/* Where it has room for itself alone, the most of all. */
static unsigned int another_group(const struct search *s, unsigned int v, unsigned int but)
{
	unsigned int i, best = NODES_MAX;

	for (i = 0; i < s->state.groups.nr; i++)
		if (i != but && s->state.groups.with_cpus >> i & 1 && !heal_lacks(&s->state, v, 1ULL << i) &&
		    (best == NODES_MAX || s->state.groups.free[i] > s->state.groups.free[best]))
			best = i;
	return best;
}

static enum heal_left try_with_room_made(struct search *s, unsigned int v, unsigned int to, uint64_t lacks)
{
	unsigned int other = who_makes_room(s, v, to, lacks), group;
	struct heal_action action[2];
	struct heal_place place[2], before;
	uint64_t bytes;

	if (other == s->host->nr_vms)
		return LEFT_NO_ROOM;
	group = another_group(s, other, to);
	if (group == NODES_MAX)
		return LEFT_NO_ROOM;
	place[0] = heal_gathered(&s->state, other, 1ULL << group, UINT64_MAX, &bytes);
	action[0] = action_of(s, other, &place[0], bytes, HEAL_MAKE_ROOM);
	before = s->state.place[other];
	heal_state_put(&s->state, other, &place[0]);
	place[1] = heal_gathered(&s->state, v, 1ULL << to, s->may_move - bytes, &bytes);
	heal_state_put(&s->state, other, &before);
	action[1] = action_of(s, v, &place[1], bytes, HEAL_GATHER);
	return weigh(s, action, place, 2);
}

static enum heal_left try_gather(struct search *s, unsigned int v, uint64_t home)
{
	bool relieves = crowded_ns(s, v) && s->state.place[v].home != home;
	uint64_t bytes, all, lacks = heal_lacks(&s->state, v, home);
	struct heal_place place = heal_gathered(&s->state, v, home, UINT64_MAX, &all);
	struct heal_action action;

	if (!all)
		return lacks ? LEFT_NO_ROOM : LEFT_GOOD;
	/* vCPUs that leave a node for its work are not to leave memory behind there. */
	if (relieves && lacks)
		return LEFT_NO_ROOM;
	if (all > s->may_move && (relieves || s->may_move < LEAST_MOVE))
		return LEFT_BUDGET;
	place = heal_gathered(&s->state, v, home, s->may_move, &bytes);
	action = action_of(s, v, &place, bytes, relieves ? HEAL_RELIEVE : HEAL_GATHER);
	return bytes < LEAST_MOVE && lacks ? LEFT_NO_ROOM : weigh(s, &action, &place, 1);
}

static enum heal_left try_home(struct search *s, unsigned int v, uint64_t home)
{
	uint64_t lacks = heal_lacks(&s->state, v, home);
	enum heal_left left = LEFT_GOOD;

	if (s->state.place[v].home != home) {
		struct heal_place place = heal_following(&s->state, v, home);
		struct heal_action action = action_of(s, v, &place, 0, HEAL_FOLLOW);

		left = weigh(s, &action, &place, 1);
	}
	if (lacks && __builtin_popcountll(home) == 1 && !crowded_ns(s, v))
		nearer(&left, try_with_room_made(s, v, __builtin_ctzll(home), lacks));
	nearer(&left, try_gather(s, v, home));
	return left;
}

static enum heal_left try_vm(struct search *s, unsigned int v)
{
	unsigned int needs = heal_needs(&s->state, v), spans, size, i;
	enum heal_left left = allowed(s, v);
	uint64_t home = s->state.place[v].home;

	if (left != LEFT_ACTED)
		return left;
	if (heal_local(&s->state, &s->flow, v) >= GOOD && !crowded_ns(s, v))
		return LEFT_GOOD;
	if (is_alone(s, v))
		return LEFT_ALONE;
	spans = __builtin_popcountll(heal_spans(&s->state, v) | (home == s->state.groups.with_cpus ? 0 : home));
	left = LEFT_GOOD;
	/* On a way that was begun it goes on; another home waits. */
	if (s->host->vm[v].calm_ns < s->rules->cooldown_ns) {
		left = try_home(s, v, home);
		return left == LEFT_ACTED ? left : LEFT_COOLING;
	}
	for (size = needs; size < needs + SIZES && (size == needs || size <= spans) && size < s->state.groups.nr; size++)
		for (i = 0; i < s->state.groups.nr; i++)
			if (s->state.groups.with_cpus >> i & 1)
				nearer(&left, try_home(s, v, heal_set(&s->state, v, i, size)));
	return left;
}

/* Of several at a time, one would do what makes others needless. */
static void relieved(struct search *s, uint64_t home)
{
	unsigned int i;

	for (i = 0; i < s->state.groups.nr; i++)
		if (home >> i & 1)
			s->state.groups.crowded_ns[i] = 0;
}

static void take(struct search *s, struct heal_plan *plan)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (s->action[i].why == HEAL_RELIEVE)
			relieved(s, s->state.place[s->action[i].vm].home);
		heal_state_put(&s->state, s->action[i].vm, &s->place[i]);
		s->may_move -= s->action[i].bytes;
		s->acted[s->action[i].vm] = true;
		plan->left[s->action[i].vm] = LEFT_ACTED;
		plan->action[plan->nr++] = s->action[i];
	}
}

/* False: there is none. */
static bool next(struct search *s, struct heal_plan *plan)
{
	unsigned int v;

	look(s);
	s->found = false;
	for (v = 0; v < s->host->nr_vms; v++) {
		if (s->host->between && !s->host->between(s->host->with))
			return false;
		if (!s->acted[v])
			plan->left[v] = try_vm(s, v);
	}
	if (s->found)
		take(s, plan);
	return s->found;
}

bool heal_plan(struct heal_plan *plan, const struct heal_host *host, const struct heal_rules *rules)
{
	struct search s = { .rules = rules, .host = host, .may_move = host->may_move };
	unsigned int v;

	*plan = (struct heal_plan){
		.action = calloc(rules->actions + 2, sizeof(*plan->action)), .left = calloc(host->nr_vms + 1, sizeof(*plan->left)),
	};
	s.acted = calloc(host->nr_vms + 1, sizeof(*s.acted));
	if (!plan->action || !plan->left || !s.acted || !heal_state_begin(&s.state, host, rules)) {
		free(s.acted);
		heal_plan_free(plan);
		return false;
	}
	while (plan->nr < rules->actions && next(&s, plan))
		;
	for (v = 0; v < host->nr_vms; v++)
		if (plan->left[v] == LEFT_ACTED && !s.acted[v])
			plan->left[v] = LEFT_LATER;
	heal_state_end(&s.state);
	free(s.acted);
	return true;
}

void heal_plan_free(struct heal_plan *plan)
{
	free(plan->action);
	free(plan->left);
	*plan = (struct heal_plan){ .nr = 0 };
}
