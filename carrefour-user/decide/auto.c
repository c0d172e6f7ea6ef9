/* SPDX-License-Identifier: GPL-2.0-only */
/* Classes with hysteresis: another class must be clearly better, and for some time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "decide/auto.h"
#include "common/units.h"

#define BUSIEST_DWELLS 4	/* in so many dwell times what was busiest is forgotten, but for 1/e */
#define RETURNS_MAX 6	/* how often the time until a return is doubled: 5 hours, from 5 minutes */

static const struct mean unknown = { .value = -1 };
static const char *const names[NR_CLASSES] = { "unknown", "low", "moderate", "high" };

const char *class_name(enum auto_class class)
{
	return names[class];
}

/* A guest that is not known gets first-touch, which is what tells its class. */
const char *class_policy(enum auto_class class)
{
	return class == CLASS_HIGH ? "round-4k" : "first-touch";
}

struct auto_state auto_begin(void)
{
	return (struct auto_state){
		.class = CLASS_UNKNOWN, .mean = unknown, .detour = unknown, .spread = unknown, .private = unknown, .expected = -1,
		.came = unknown, .running = -1, .touched = -1,
	};
}

/*
 * The one that does the least, of those that are nearly as good as the best. How nearly: the gain that a change is made for;
 * half as much again to leave a class, and half of it to do less than one does now.
 */
static enum auto_class choose(const struct placed *placed, enum auto_class now, const struct config *c)
{
	double time[NR_CLASSES], best = INFINITY, enough = c->auto_gain_pct / 100.0;
	enum auto_class class;

	for (class = CLASS_LOW; class < NR_CLASSES; class++) {
		time[class] = forecast(placed, class);
		best = fmin(best, time[class]);
	}
	for (class = CLASS_LOW; class < CLASS_HIGH; class++) {
		double part = now == CLASS_UNKNOWN ? 1 : class < now ? 0.5 : class == now ? 1.5 : 1;

		if (time[class] <= best * (1 + part * enough))
			break;
	}
	return class;
}

static double part_of(uint64_t part, uint64_t all)
{
	return part < all ? part / (double)all : 1;
}

static int known(const struct mean *mean)
{
	return mean->value < 0 ? -1 : mean->value + 0.5;
}

struct auto_input auto_input_of(const struct input *in, const struct verdict *v, const char *policy, bool carrefour)
{
	return (struct auto_input){
		.ns = in->ns, .running = in->ran_ns && in->ns ? part_of(in->ran_ns, in->ns * in->nr_vcpus) : -1,
		/* of more than were marked, some were in the period before */
		.touched = in->marked && in->faults <= in->marked ? part_of(in->faults, in->marked) : -1,
		.samples = v->measure.samples, .imbalance = v->measure.imbalance, .own_imbalance = v->measure.own_imbalance,
		.detour = v->measure.detour, .spread = v->measure.spread,
		.again = v->again, .again_same = v->again_same, .home_nodes = v->sharing,
		.policy = policy, .carrefour = carrefour,
	};
}

/* Until a dwell time is known, of all of it alike: what came first is no more than what came next. */
static void average(struct mean *mean, double value, uint64_t ns, uint64_t dwell_ns)
{
	mean->ns += ns;
	if (mean->ns > dwell_ns)
		mean->ns = dwell_ns;
	if (mean->value < 0)
		mean->value = value;
	else if (ns)
		mean->value += part_of(ns, mean->ns) * (value - mean->value);
}

/* What was known last; whether that is the first. */
static bool learn(double *known, double now)
{
	bool first = *known < 0 && now >= 0;

	if (now >= 0)
		*known = now;
	return first;
}

/* How much of a period counts. */
static uint64_t weighed_ns(struct auto_state *s, const struct config *c, const struct auto_input *in)
{
	bool ran = learn(&s->running, in->running), touched = learn(&s->touched, in->touched);
	double active = (s->running < 0 ? 1 : s->running) * (s->touched < 0 ? 1 : s->touched);

	/* Nothing compares with what was taken for all. */
	if (ran || touched)
		s->busiest = 0;
	/* Few samples tell little of it, either. */
	if (in->samples < c->min_samples)
		return 0;
	if (active > s->busiest)
		s->busiest = active;
	else
		s->busiest += part_of(in->ns, BUSIEST_DWELLS * c->auto_dwell_ms * MS) * (active - s->busiest);
	return s->busiest > 0 ? in->ns * active / s->busiest : 0;
}

static struct placed placed(const struct auto_state *s)
{
	return (struct placed){ .imbalance = s->mean.value, .detour = s->detour.value, .spread = s->spread.value };
}

/* What the guest waits now, whatever its policy. */
static double waits_now(const struct auto_input *in)
{
	struct placed now = { .imbalance = in->imbalance, .detour = in->detour };

	return forecast(&now, CLASS_LOW);
}

/* What is to come of a class that was just found; of a guest whose memory was elsewhere when it was seen last, nobody knows. */
static void expect(struct auto_state *s)
{
	struct placed seen = placed(s);

	s->expected = s->mean.value < 0 ? -1 : forecast(&seen, s->class);
	s->came = unknown;
}

/* Whether another class has lasted for so long that it is the guest's. */
static enum auto_why change(struct auto_state *s, enum auto_class class, uint64_t ns, uint64_t dwell_ns)
{
	if (class == s->class) {
		s->candidate = s->class;
		s->candidate_ns = 0;
		return AUTO_SAME;
	}
	if (class != s->candidate) {
		s->candidate = class;
		s->candidate_ns = 0;
	}
	s->candidate_ns += ns;
	if (s->candidate_ns < dwell_ns)
		return AUTO_WAITING;
	s->class = class;
	return AUTO_CHANGED;
}

static enum auto_why learn_placement(struct auto_state *s, const struct config *c, const struct auto_input *in)
{
	enum auto_class class;
	struct placed now;

	s->private = unknown;
	if (in->samples < c->min_samples)
		return AUTO_FEW_SAMPLES;
	average(&s->mean, in->imbalance, in->ns, c->auto_dwell_ms * MS);
	average(&s->detour, in->detour, in->ns, c->auto_dwell_ms * MS);
	average(&s->spread, in->spread, in->ns, c->auto_dwell_ms * MS);
	now = placed(s);
	class = choose(&now, s->class, c);
	return change(s, in->carrefour && class < s->class ? s->class : class, in->ns, c->auto_dwell_ms * MS);
}

/*
 * A page that k nodes use alike was last accessed by the same node as before in 1/k of all cases, a private one in all; so
 * the share of accesses to private pages is at least what the former do not explain. First-touch keeps what is new of
 * these local, and Carrefour brings the others home; but while a few nodes make all accesses, as when a master initializes, what
 * is local is imbalanced, which may be worse than to be interleaved. What its imbalance was is not known afterwards.
 */
static enum auto_why learn_private(struct auto_state *s, const struct config *c, const struct auto_input *in)
{
	uint64_t dwell = c->auto_return_ms * MS << s->returns;
	double chance, same;
	bool private;
	enum auto_why why;

	if (in->again < c->min_samples || in->home_nodes < 2)
		return AUTO_FEW_SAMPLES;
	chance = 1.0 / in->home_nodes;
	same = (double)in->again_same / in->again;
	private = same > chance && forecast_private_is_good(in->own_imbalance, in->spread);
	average(&s->private, private ? 1000 * (same - chance) / (1 - chance) : 0, in->ns, c->auto_dwell_ms * MS);
	why = change(s, s->private.value >= c->auto_private_pct * 10 ? CLASS_MODERATE : s->class, in->ns, dwell);
	if (why == AUTO_CHANGED) {
		s->mean = s->detour = s->spread = unknown;
		s->returns += s->returns < RETURNS_MAX;
	}
	return why;
}

static void tell_times(const struct auto_state *s, int *time)
{
	struct placed now = placed(s);
	enum auto_class class;

	for (class = CLASS_UNKNOWN; class < NR_CLASSES; class++)
		time[class] = class == CLASS_UNKNOWN || s->mean.value < 0 ? -1 : forecast(&now, class) + 0.5;
}

struct advice auto_step(struct auto_state *s, const struct config *config, const struct auto_input *in)
{
	enum auto_why why = AUTO_NOT_ITS_POLICY;
	struct auto_input weighed = *in;
	struct advice advice;

	weighed.ns = weighed_ns(s, config, in);
	if (in->samples >= config->min_samples)
		average(&s->came, waits_now(in), weighed.ns, config->auto_dwell_ms * MS);
	if (!strcmp(in->policy, class_policy(CLASS_UNKNOWN)))
		why = learn_placement(s, config, &weighed);
	else if (s->class == CLASS_HIGH && !strcmp(in->policy, class_policy(CLASS_HIGH)))
		why = learn_private(s, config, &weighed);
	if (why == AUTO_CHANGED)
		expect(s);
	advice = (struct advice){
		.class = s->class, .why = why, .policy = class_policy(s->class),
		.carrefour = s->class == CLASS_MODERATE || s->class == CLASS_HIGH,
		.imbalance = known(&s->mean), .private = known(&s->private),
		.expected = s->expected < 0 ? -1 : s->expected + 0.5, .came = known(&s->came),
	};
	tell_times(s, advice.time);
	return advice;
}

void auto_take_back(struct auto_state *s, const struct auto_state *before)
{
	*s = *before;
	s->candidate = s->class;
	s->candidate_ns = 0;
	s->mean = s->detour = s->spread = s->private = s->came = unknown;
}

void auto_explain(char *buf, size_t size, const struct advice *a)
{
	static const char *const whys[NR_AUTO_WHYS] = {
		[AUTO_FEW_SAMPLES] = "too few samples in this period",
		[AUTO_NOT_ITS_POLICY] = "under this policy nothing is learnt",
		[AUTO_WAITING] = "another class is better, but not for long enough",
		[AUTO_SAME] = "as before", [AUTO_CHANGED] = "new",
	};
	char imbalance[128] = "not known", private[64] = "", came[64] = "";

	if (a->imbalance >= 0)
		snprintf(imbalance, sizeof(imbalance), "%d.%d %%, forecast of memory time %d %% as low, %d %% as moderate, %d %% as high",
			 a->imbalance / 10, a->imbalance % 10, (a->time[CLASS_LOW] + 5) / 10, (a->time[CLASS_MODERATE] + 5) / 10,
			 (a->time[CLASS_HIGH] + 5) / 10);
	if (a->private >= 0)
		snprintf(private, sizeof(private), ", %d.%d %% of accesses to private pages", a->private / 10, a->private % 10);
	if (a->expected >= 0 && a->came >= 0)
		snprintf(came, sizeof(came), "; %d %% were expected, and %d %% have come", (a->expected + 5) / 10, (a->came + 5) / 10);
	snprintf(buf, size, "%s%s: class %s, imbalance %s%s%s; %s", a->policy, a->carrefour ? ",carrefour" : "", names[a->class],
		 imbalance, private, came, whys[a->why]);
}
