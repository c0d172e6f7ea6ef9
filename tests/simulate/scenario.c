/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

#define WORDS 8
#define MIB_MAX (4ULL << 20)	/* of an area: 4 TiB, and pages are counted in 32 bits */

static const char *const placements[] = {
	[PLACE_FIRST_TOUCH] = "first-touch", [PLACE_4K] = "round-4k", [PLACE_2M] = "round-2m", [PLACE_1G] = "round-1g",
};
static const char *const layouts[] = { [LAYOUT_BLOCKS] = "blocks", [LAYOUT_SCATTERED] = "scattered", [LAYOUT_MIXED] = "mixed" };

struct line {
	struct scenario *s;
	char *word[WORDS];
	int nr;
	char *why;
	size_t size;
};

const char *placement_name(enum placement placement)
{
	return placements[placement];
}

static bool wrong(struct line *l, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(l->why, l->size, format, list);
	va_end(list);
	return false;
}

static bool number(struct line *l, const char *word, double least, double most, double *to)
{
	char *end;

	*to = strtod(word, &end);
	if (end == word || *end || !(*to >= least && *to <= most))
		return wrong(l, "%s should be a number from %g to %g", word, least, most);
	return true;
}

static bool whole(struct line *l, const char *word, uint64_t least, uint64_t most, uint64_t *to)
{
	char *end;

	*to = strtoull(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || *to < least || *to > most)
		return wrong(l, "%s should be a whole number from %" PRIu64 " to %" PRIu64, word, least, most);
	return true;
}

static bool choice(struct line *l, const char *word, const char *const *of, unsigned int nr, unsigned int *to)
{
	for (*to = 0; *to < nr; ++*to)
		if (!strcmp(word, of[*to]))
			return true;
	return wrong(l, "%s should be one of %s, %s and so on", word, of[0], of[1]);
}

static bool is_nodes(struct line *l, const char *word, int *to)
{
	uint64_t n;

	if (!whole(l, word, 0, l->s->memory.nodes - 1, &n))
		return false;
	*to = n;
	return true;
}

/* area NAME MIB LAYOUT own|all|NODE */
static bool read_area(struct line *l)
{
	unsigned int layout, i;
	double mib;
	int touched;

	if (!number(l, l->word[2], 1 / 256., MIB_MAX, &mib) || !choice(l, l->word[3], layouts, 3, &layout))
		return false;
	for (i = 0; i < l->s->memory.nr; i++)
		if (!strcmp(l->s->memory.area[i].name, l->word[1]))
			return wrong(l, "%s is there twice", l->word[1]);
	if (strlen(l->word[1]) >= sizeof(l->s->memory.area->name))
		return wrong(l, "%s is too long for a name", l->word[1]);
	if (!strcmp(l->word[4], "own"))
		touched = TOUCH_OWN;
	else if (!strcmp(l->word[4], "all"))
		touched = TOUCH_ALL;
	else if (!is_nodes(l, l->word[4], &touched))
		return false;
	return memory_add(&l->s->memory, l->word[1], mib * 256 + 0.5, layout, touched) || wrong(l, "more than %d areas", AREAS);
}

/* use SECOND AREA SHARE own|own+N|all|NODE TOUCHES */
static bool read_use(struct line *l)
{
	struct event *e = &l->s->event[l->s->events];
	uint64_t second, arg = 0;
	int node;

	if (l->s->events == EVENTS)
		return wrong(l, "more than %d uses", EVENTS);
	for (e->area = 0; e->area < l->s->memory.nr; e->area++)
		if (!strcmp(l->s->memory.area[e->area].name, l->word[2]))
			break;
	if (e->area == l->s->memory.nr)
		return wrong(l, "%s is no area that was named before", l->word[2]);
	if (!whole(l, l->word[1], 0, 1e9, &second) || !number(l, l->word[3], 0, 1e6, &e->use.share) ||
	    !number(l, l->word[5], 0, 1e6, &e->use.touches))
		return false;
	e->second = second;
	if (l->s->events && e->second < e[-1].second)
		return wrong(l, "%s is before the use in the line above", l->word[1]);
	if (!strncmp(l->word[4], "own", 3)) {
		e->use.by = BY_OWN;
		if (l->word[4][3] && (l->word[4][3] != '+' || !whole(l, l->word[4] + 4, 0, l->s->memory.threads - 1, &arg)))
			return wrong(l, "%s should be own or own+N, N less than the threads", l->word[4]);
		e->use.arg = arg;
	} else if (!strcmp(l->word[4], "all")) {
		e->use.by = BY_ALL;
	} else {
		if (!is_nodes(l, l->word[4], &node))
			return false;
		e->use.by = BY_NODE;
		e->use.arg = node;
	}
	l->s->events++;
	return true;
}

static bool read_wander(struct line *l)
{
	uint64_t seconds, pairs;

	if (!whole(l, l->word[1], 1, 1e9, &seconds) || !whole(l, l->word[2], 1, THREADS / 2, &pairs))
		return false;
	l->s->wander_s = seconds;
	l->s->wander_pairs = pairs;
	return true;
}

static bool read_set(struct line *l)
{
	return config_set(&l->s->config, l->word[1], l->word[2], l->why, l->size);
}

static bool read_policy(struct line *l)
{
	unsigned int placement;

	if (!choice(l, l->word[1], placements, 4, &placement))
		return false;
	l->s->placement = placement;
	return true;
}

static bool read_number(struct line *l)
{
	static const char *const off_on[] = { "off", "on" }, *const sizes[] = { "4k", "2m" };
	struct scenario *s = l->s;
	const struct {
		const char *name;
		unsigned int *to;
		uint64_t least, most;
	} numbers[] = {
		{ "nodes", &s->memory.nodes, 2, NODES }, { "threads", &s->memory.threads, 1, THREADS },
		{ "seconds", &s->seconds, 1, 1000000 }, { "every", &s->every, 1, 1000000 }, { "seed", &s->seed, 0, UINT32_MAX },
		{ "overlap", &s->overlap, 1, 16 }, { "scan_ms", &s->scan_ms, 0, 3600000 },
	};
	const struct {
		const char *name;
		bool *to;
		const char *const *words;
	} flags[] = {
		{ "carrefour", &s->carrefour, off_on }, { "auto", &s->adaptive, off_on }, { "pinned", &s->pinned, off_on },
		{ "entries", &s->memory.large, sizes },
	};
	unsigned int i, found;
	uint64_t value;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(l->word[0], numbers[i].name)) {
			if (!whole(l, l->word[1], numbers[i].least, numbers[i].most, &value))
				return false;
			*numbers[i].to = value;
			return true;
		}
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (!strcmp(l->word[0], flags[i].name)) {
			if (!choice(l, l->word[1], flags[i].words, 2, &found))
				return false;
			*flags[i].to = found;
			return true;
		}
	if (!strcmp(l->word[0], "instructions"))
		return number(l, l->word[1], 0, 1e9, &s->instructions);
	if (!strcmp(l->word[0], "node_mib"))
		return whole(l, l->word[1], 1, MIB_MAX, &s->node_mib);
	return wrong(l, "%s is no word of a scenario", l->word[0]);
}

static bool read_line(struct line *l)
{
	static const struct {
		const char *name;
		int words;
		bool (*read)(struct line *line);
	} kinds[] = {
		{ "area", 5, read_area }, { "use", 6, read_use }, { "wander", 3, read_wander }, { "set", 3, read_set },
		{ "policy", 2, read_policy },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds) && strcmp(l->word[0], kinds[i].name); i++)
		;
	if (l->nr != (i < sizeof(kinds) / sizeof(*kinds) ? kinds[i].words : 2))
		return wrong(l, "%s has %d words after it, which are too many or too few", l->word[0], l->nr - 1);
	return i < sizeof(kinds) / sizeof(*kinds) ? kinds[i].read(l) : read_number(l);
}

static bool check(struct line *l)
{
	const struct scenario *s = l->s;
	const char *keys[2];
	char error[256];

	if (!s->events || s->event[0].second)
		return wrong(l, "needs an area and a use of it from second 0 on");
	if (s->memory.threads % s->memory.nodes)
		return wrong(l, "%u threads do not divide over %u nodes evenly", s->memory.threads, s->memory.nodes);
	if (s->config.period_ms != 1000)
		return wrong(l, "period_ms %u should be 1000: a second is what is simulated at a time", s->config.period_ms);
	if (s->node_mib && s->node_mib * s->memory.nodes * 256 < s->memory.pages)
		return wrong(l, "the areas, together %" PRIu64 " MiB, do not fit nodes of %" PRIu64, s->memory.pages / 256, s->node_mib);
	if (!config_consistent(&s->config, keys, error, sizeof(error)))
		return wrong(l, "%s", error);
	return true;
}

bool scenario_read(struct scenario *s, FILE *file, const char *name, char *error, size_t size)
{
	char text[512], why[384] = "";
	struct line l = { .s = s, .why = why, .size = sizeof(why) };
	unsigned int at = 0;

	*s = (struct scenario){
		.config = config_defaults(), .seconds = 60, .every = 1, .seed = 1, .overlap = 1, .instructions = 200, .pinned = true,
		.memory = { .nodes = 8, .threads = 48 }, .placement = PLACE_4K,
	};
	while (fgets(text, sizeof(text), file)) {
		char *word, *rest = text;

		at++;
		text[strcspn(text, "#\n")] = 0;
		for (l.nr = 0; (word = strsep(&rest, " \t"));)
			if (*word && l.nr < WORDS)
				l.word[l.nr++] = word;
		if (l.nr && !read_line(&l)) {
			snprintf(error, size, "%s:%u: %s", name, at, why);
			return false;
		}
	}
	if (check(&l))
		return true;
	snprintf(error, size, "%s: %s", name, why);
	return false;
}
