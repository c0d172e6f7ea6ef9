/* Classes with hysteresis: another class must be clearly another one, and for some time. */
#include <stdio.h>

#include "auto.h"
#include "sample.h"

static const char *const names[NR_CLASSES] = { "unknown", "low", "moderate", "high" };

const char *class_name(enum auto_class class)
{
	return names[class];
}

struct auto_state auto_begin(void)
{
	return (struct auto_state){ .class = CLASS_UNKNOWN, .mean = -1 };
}

/*
 * The paper calls low what is below 85 %, and memcached, which its table rounds to 85, so
 * the limit belongs to the lower class. From a class that is known it takes a margin more.
 */
static enum auto_class classify(double imbalance, enum auto_class now, const struct config *c)
{
	double margin = c->auto_margin_pct * 10.0, low = c->auto_low_pct * 10.0, high = c->auto_high_pct * 10.0;

	if (now != CLASS_UNKNOWN) {
		low += now == CLASS_LOW ? margin : -margin;
		high += now == CLASS_HIGH ? -margin : margin;
	}
	return imbalance > high ? CLASS_HIGH : imbalance > low ? CLASS_MODERATE : CLASS_LOW;
}

static enum auto_why learn(struct auto_state *s, const struct config *c, const struct auto_input *in)
{
	double part = in->ns < c->auto_dwell_ms * MS ? in->ns / (c->auto_dwell_ms * (double)MS) : 1;
	enum auto_class class;

	if (!in->first_touch)
		return AUTO_NOT_FIRST_TOUCH;
	if (in->samples < c->min_samples)
		return AUTO_FEW_SAMPLES;
	s->mean = s->mean < 0 ? in->imbalance : s->mean + part * (in->imbalance - s->mean);

	class = classify(s->mean, s->class, c);
	if (class == s->class || (in->carrefour && class < s->class)) {
		s->candidate = s->class;
		s->candidate_ns = 0;
		return AUTO_SAME;
	}
	if (class != s->candidate) {
		s->candidate = class;
		s->candidate_ns = 0;
	}
	s->candidate_ns += in->ns;
	if (s->candidate_ns < c->auto_dwell_ms * MS)
		return AUTO_WAITING;
	s->class = class;
	return AUTO_CHANGED;
}

struct advice auto_step(struct auto_state *s, const struct config *config, const struct auto_input *in)
{
	enum auto_why why = learn(s, config, in);

	/* A guest that is not known gets first-touch, which is what tells its class. */
	return (struct advice){
		.class = s->class, .why = why,
		.policy = s->class == CLASS_HIGH ? "round-4k" : "first-touch",
		.carrefour = s->class == CLASS_MODERATE || s->class == CLASS_HIGH,
		.imbalance = s->mean < 0 ? 0 : s->mean + 0.5,
	};
}

void auto_explain(char *buf, size_t size, const struct advice *a, const struct config *c)
{
	static const char *const whys[NR_AUTO_WHYS] = {
		[AUTO_FEW_SAMPLES] = "too few samples in this period",
		[AUTO_NOT_FIRST_TOUCH] = "only under first-touch is this known",
		[AUTO_WAITING] = "another class, but not for long enough",
		[AUTO_SAME] = "as before", [AUTO_CHANGED] = "new",
	};

	snprintf(buf, size, "%s%s: class %s, imbalance %u.%u %% (low up to %u %%, high above %u %%); %s", a->policy,
		 a->carrefour ? ",carrefour" : "", names[a->class], a->imbalance / 10, a->imbalance % 10,
		 c->auto_low_pct, c->auto_high_pct, whys[a->why]);
}
