/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads traces. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decide/explain.h"
#include "trace/words.h"

#define NS_MAX (3600 * 1000 * MS)	/* of a period */

static bool read_sample(struct trace *t, struct trace_domain *d)
{
	struct sample s = { 0 };
	uint64_t gfn, order, vcpu;
	const char *flags;

	if (!words_number(t, "gfn", 16, UINT64_MAX, &gfn) || !words_number(t, "order", 10, 255, &order) ||
	    !words_number(t, "vCPU", 10, UINT16_MAX, &vcpu) || !words_node(t, "node", &s.node) || !words_node(t, "home", &s.home))
		return false;
	flags = words_next(t, "r, w, R or W");
	if (!flags)
		return false;
	if (strlen(flags) != 1 || !strchr("rwRW", *flags))
		return words_bad(t, "'%.100s' is no access; r and w are hint faults, R and W are of IBS", flags);
	s.gfn = gfn;
	s.order = order;
	s.vcpu = vcpu;
	s.flags = (tolower((unsigned char)*flags) == 'w' ? SAMPLE_WRITE : 0) | (isupper((unsigned char)*flags) ? SAMPLE_IBS : 0);
	if (!words_grow(t, (void **)&d->sample, sizeof(s), d->in.nr_samples, &d->room_samples, TRACE_SAMPLES_MAX))
		return false;
	d->sample[d->in.nr_samples++] = s;
	return words_end(t);
}

/* So many vCPUs there are, at least. */
static bool grow_vcpus(struct trace *t, struct trace_domain *d, unsigned int nr)
{
	uint8_t *new;

	if (nr <= d->in.nr_vcpus)
		return true;
	new = realloc(d->vcpu_node, nr);
	if (!new)
		return words_bad(t, "out of memory");
	memset(new + d->in.nr_vcpus, NO_NODE, nr - d->in.nr_vcpus);
	d->vcpu_node = new;
	d->in.nr_vcpus = nr;
	return true;
}

static bool read_ran(struct trace *t, struct trace_domain *d)
{
	uint64_t nr;

	return words_number(t, "ns for which its vCPUs ran", 10, INT64_MAX, &d->in.ran_ns) &&
	       words_number(t, "number of vCPUs", 10, TRACE_VCPUS_MAX, &nr) && grow_vcpus(t, d, nr) && words_end(t);
}

static bool read_table(struct trace *t, struct trace_domain *d)
{
	uint64_t pages;

	if (!words_number(t, "number of pages", 10, TRACE_PAGES_MAX, &pages))
		return false;
	if (pages < TRACE_PAGES_LEAST)
		return words_bad(t, "%" PRIu64 " pages are too few; %d is the least", pages, TRACE_PAGES_LEAST);
	d->pages = pages;
	return words_end(t);
}

static bool read_count(struct trace *t, struct trace_domain *d)
{
	uint8_t accessing, home;

	return words_node(t, "accessing node", &accessing) && words_node(t, "home", &home) &&
	       words_number(t, "count", 10, UINT32_MAX, &d->matrix[accessing * t->nr_nodes + home]) && words_end(t);
}

static bool read_vcpu(struct trace *t, struct trace_domain *d)
{
	uint64_t vcpu;
	uint8_t n;

	if (!words_number(t, "vCPU", 10, TRACE_VCPUS_MAX - 1, &vcpu) || !words_node(t, "node", &n) ||
	    !grow_vcpus(t, d, vcpu + 1))
		return false;
	d->vcpu_node[vcpu] = n;
	return words_end(t);
}

static bool read_name(struct trace *t, const char *what, const char *(*name_of)(unsigned int), unsigned int *value)
{
	const char *word = words_next(t, what);

	if (!word)
		return false;
	for (*value = 0; name_of(*value); (*value)++)
		if (!strcmp(word, name_of(*value)))
			return true;
	return words_bad(t, "'%.100s' is no %s", word, what);
}

static bool read_decision(struct trace *t, struct trace_domain *d)
{
	struct decision new = { 0 };
	uint64_t order;
	unsigned int action, why;

	if (!read_name(t, "action", action_name, &action) || !read_name(t, "reason", why_name, &why) ||
	    !words_number(t, "gfn", 16, UINT64_MAX, &new.gfn) || !words_number(t, "order", 10, ORDER_1G, &order) ||
	    !words_node(t, "node", &new.from) || !words_node(t, "node", &new.to))
		return false;
	new.action = action;
	new.why = why;
	new.order = order;
	if (!words_grow(t, (void **)&d->decision, sizeof(new), d->nr_decisions, &d->room_decisions, 2 * VM_MOVES_MAX))
		return false;
	d->decision[d->nr_decisions++] = new;
	return words_end(t);
}

static bool read_domain(struct trace *t, struct trace_domain *d)
{
	const char *word;
	uint64_t id;

	d->matrix = calloc(t->nr_nodes * t->nr_nodes, sizeof(*d->matrix));
	if (!d->matrix)
		return words_bad(t, "out of memory");
	if (!words_number(t, "domain id", 10, UINT16_MAX, &id) || !words_nodes(t, &d->in.home))
		return false;
	d->id = id;
	word = words_next(t, "policy");
	if (!word)
		return false;
	if (strlen(word) >= sizeof(d->policy))
		return words_bad(t, "'%.100s' is no policy", word);
	strcpy(d->policy, word);
	word = words_next(t, "carrefour or static");
	if (!word)
		return false;
	d->carrefour = !strcmp(word, "carrefour");
	if (!d->carrefour && strcmp(word, "static"))
		return words_bad(t, "'%.100s' is neither carrefour nor static", word);
	return words_number(t, "marked entries", 10, UINT32_MAX, &d->in.marked) &&
	       words_number(t, "faults", 10, UINT32_MAX, &d->in.faults) && words_end(t);
}

/* What follows a domain, up to the next domain or period, which is left to be read. */
static bool read_of_domain(struct trace *t, struct trace_domain *d)
{
	const char *word;

	while ((word = words_line(t))) {
		bool good;

		if (!strcmp(word, "s")) {
			good = read_sample(t, d);
		} else if (!strcmp(word, "count")) {
			good = read_count(t, d);
		} else if (!strcmp(word, "table")) {
			good = read_table(t, d);
		} else if (!strcmp(word, "ran")) {
			good = read_ran(t, d);
		} else if (!strcmp(word, "vcpu")) {
			good = read_vcpu(t, d);
		} else if (!strcmp(word, "decided")) {
			d->decided = true;
			good = words_end(t);
		} else if (d->decided && !strcmp(word, "d")) {
			good = read_decision(t, d);
		} else {
			words_unread(t);
			return true;
		}
		if (!good)
			return false;
	}
	return false;
}

static bool read_period(struct trace *t, struct trace_period *p)
{
	const char *word = words_next(t, "number of accesses per us, or -");
	unsigned int n;
	size_t room = 0;

	if (!word)
		return false;
	p->accesses_per_us = -1;
	if (strcmp(word, "-")) {
		char *end;

		errno = 0;
		p->accesses_per_us = strtoll(word, &end, 10);
		if (!isdigit((unsigned char)*word) || *end || errno)
			return words_bad(t, "'%.100s' is no number of accesses per us", word);
	}
	for (n = 0; n < t->nr_nodes; n++)
		if (!words_number(t, "free bytes of a node", 10, INT64_MAX, &p->free[n]))
			return false;
	if (!words_end(t))
		return false;

	while ((word = words_line(t))) {
		struct trace_domain *d;

		if (!p->nr && !p->has_turn && !strcmp(word, "turn")) {
			p->has_turn = true;
			if (!words_number(t, "turn", 10, UINT64_MAX, &p->turn) || !words_end(t))
				return false;
			continue;
		}
		if (strcmp(word, "domain")) {
			words_unread(t);
			return true;
		}
		if (!words_grow(t, (void **)&p->domain, sizeof(*p->domain), p->nr, &room, TRACE_DOMAINS_MAX))
			return false;
		d = &p->domain[p->nr++];
		memset(d, 0, sizeof(*d));
		if (!read_domain(t, d) || !read_of_domain(t, d))
			return false;
		d->in.ns = p->ns;
		d->in.sample = d->sample;
		d->in.matrix = d->matrix;
		d->in.vcpu_node = d->vcpu_node;
	}
	return false;
}

void trace_free(struct trace_period *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		free(p->domain[i].sample);
		free(p->domain[i].matrix);
		free(p->domain[i].vcpu_node);
		free(p->domain[i].decision);
	}
	free(p->domain);
}

int trace_read(struct trace *t, struct trace_period *p)
{
	const char *word = words_line(t);

	memset(p, 0, sizeof(*p));
	if (!word)
		return -1;
	if (!strcmp(word, "end"))
		return words_end(t) ? 0 : -1;
	if (strcmp(word, "period")) {
		words_bad(t, "'%.100s' has no place here", word);
		return -1;
	}
	if (words_number(t, "length of the period in ns", 10, NS_MAX, &p->ns) && read_period(t, p))
		return 1;
	trace_free(p);
	return -1;
}

static bool read_setting(struct trace *t)
{
	const char *key = words_next(t, "setting"), *value;
	char reason[512];

	value = key ? words_next(t, "value") : NULL;
	if (!value)
		return false;
	if (!config_set(&t->config, key, value, reason, sizeof(reason)))
		return words_bad(t, "%s", reason);
	return words_end(t);
}

static bool read_distance(struct trace *t)
{
	uint64_t distance;
	unsigned int to;
	uint8_t from;

	if (!words_node(t, "node", &from))
		return false;
	for (to = 0; to < t->nr_nodes; to++) {
		if (!words_number(t, "distance", 10, UINT8_MAX, &distance))
			return false;
		if (distance < DISTANCE_OWN)
			return words_bad(t, "%" PRIu64 " is no distance; %d is the least", distance, DISTANCE_OWN);
		t->topology.distance[from][to] = distance;
	}
	return words_end(t);
}

static bool read_cpus(struct trace *t)
{
	return words_nodes(t, &t->topology.cpus) && words_end(t);
}

/* Up to the first period, which is left to be read. */
static bool read_head(struct trace *t)
{
	const char *word;

	while ((word = words_line(t))) {
		bool good;

		if (!strcmp(word, "cpus")) {
			good = read_cpus(t);
		} else if (!strcmp(word, "distance")) {
			good = read_distance(t);
		} else if (!strcmp(word, "set")) {
			good = read_setting(t);
		} else {
			words_unread(t);
			return true;
		}
		if (!good)
			return false;
	}
	return false;
}

bool trace_open(struct trace *t, FILE *file, const char *name)
{
	const char *word, *keys[2];
	char reason[512];
	uint64_t n;

	memset(t, 0, sizeof(*t));
	t->file = file;
	t->name = name;
	t->config = config_defaults();

	word = words_line(t);
	if (!word)
		return false;
	if (strcmp(word, "carrefour-trace"))
		return words_bad(t, "'%.100s' is no beginning of a trace; 'carrefour-trace 1' is", word);
	if (!words_number(t, "version", 10, UINT32_MAX, &n) || !words_end(t))
		return false;
	if (n != 1)
		return words_bad(t, "version %" PRIu64 " is not known here; 1 is", n);
	word = words_line(t);
	if (!word)
		return false;
	if (strcmp(word, "nodes"))
		return words_bad(t, "'%.100s' has no place here; 'nodes N' is expected", word);
	if (!words_number(t, "number of nodes", 10, NODES_MAX, &n) || !words_end(t))
		return false;
	if (!n)
		return words_bad(t, "a machine without nodes");
	t->nr_nodes = n;
	t->topology = topology_flat();
	if (!read_head(t))
		return false;
	if (!config_consistent(&t->config, keys, reason, sizeof(reason)))
		return words_bad(t, "%s", reason);
	return true;
}

void trace_close(struct trace *t)
{
	free(t->text);
}
