/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "marks.h"
#include "sampler.h"
#include "where.h"

#define BATCH 64	/* marks that share a flush of TLBs, as in sample-hints.c */
#define SLOTS (1U << 17)
/*
 * What docs/results/carrefour-cost.md counts, at AMD48's 2.2 GHz and an instruction a cycle: 4000 instructions an entry, and on
 * each other CPU 3700 for the flush of 64.
 */
#define ENTRY_NS 1800
#define FLUSH_NS 1700

bool sampler_begin(struct sampler *s, struct memory *memory, const struct sampling *asked, struct where *where, uint64_t seed)
{
	*s = (struct sampler){ .asked = *asked, .memory = memory, .where = where, .chance = seed };
	s->slot = calloc(SLOTS, sizeof(*s->slot));
	s->marks = marks_new(asked->entries, asked->period_ms, asked->permille, memory->threads, memory->pages, seed);
	return s->slot && s->marks;
}

void sampler_end(struct sampler *s)
{
	marks_free(s->marks);
	free(s->slot);
	free(s->sample);
}

/* Whether it was not marked yet in this period. */
static bool mark_anew(struct sampler *s, uint64_t gfn)
{
	uint64_t word = s->period << 40 | (gfn + 1);
	unsigned int i = chance_of(gfn) % SLOTS;

	while (s->slot[i] >> 40 == s->period) {
		if (s->slot[i] == word)
			return false;
		i = (i + 1) % SLOTS;
	}
	s->slot[i] = word;
	return true;
}

static unsigned int accessor(struct sampler *s, const struct area *a, uint64_t gfn)
{
	const struct memory *m = s->memory;
	unsigned int t;

	switch (a->use.by) {
	case BY_OWN:
		return (memory_thread(m, a, gfn) + a->use.arg) % m->threads;
	case BY_NODE:
		do {
			t = chance_below(&s->chance, m->threads);
		} while (m->node_of[t] != a->use.arg);
		return t;
	default:
		return chance_below(&s->chance, m->threads);
	}
}

static bool put(struct sampler *s, struct sample sample)
{
	if (s->nr == s->room) {
		unsigned int room = s->room ? 2 * s->room : 4096;
		struct sample *new = realloc(s->sample, room * sizeof(*new));

		if (!new)
			return false;
		s->sample = new;
		s->room = room;
	}
	s->sample[s->nr++] = sample;
	return true;
}

/* Accesses a second to a page of an area; and how likely there is one to it, or to 2 MiB, in a period. */
struct heat {
	double rate, small, large;
};

static double rate_of(const struct memory *m, const struct area *a, double misses)
{
	double shares = 0;
	unsigned int n;

	if (a->use.share <= 0)
		return 0;
	for (n = 0; n < m->nr; n++)
		shares += m->area[n].use.share;
	return misses * a->use.share / shares / a->pages * a->use.touches;
}

/* One entry that Xen has chosen; whether there is one to mark. */
static bool look(struct sampler *s, uint64_t gfn, unsigned int region, const struct heat *heat, bool *good)
{
	struct memory *m = s->memory;
	struct area *a = memory_area(m, gfn);
	unsigned int order = a ? memory_order(m, gfn) : 0, thread;
	uint64_t first = gfn & ~((1ULL << order) - 1), of = order && a->first + a->pages < first + CHUNK ?
		a->first + a->pages - first : 1ULL << order;
	bool hit;

	if (!a || !mark_anew(s, first))
		return false;
	hit = splitmix_part(&s->chance) < (of == CHUNK ? heat[a - m->area].large : of == 1 ? heat[a - m->area].small :
					1 - exp(-heat[a - m->area].rate * of * s->asked.period_ms / 1e3));
	if (hit) {
		/* By the thread of any of its pages, which are all as hot. */
		thread = accessor(s, a, first + chance_below(&s->chance, of));
		*good = put(s, (struct sample){
			.gfn = first, .vcpu = thread, .order = order, .node = m->node_of[thread], .home = memory_node(m, first),
		});
		s->faults++;
	}
	if (!s->where)
		marks_hit(s->marks, region, hit);
	return true;
}

/* One of Xen's periods. */
static bool mark_some(struct sampler *s, unsigned int entries, const struct heat *heat)
{
	unsigned int wanted = entries, tries = 2 * entries + BATCH, region = 0;
	bool good = true;
	double cost;

	s->period++;
	while (wanted && tries-- && good) {
		uint64_t gfn = s->where ? where_pick(s->where, &s->chance) : marks_pick(s->marks, &region);

		if (look(s, gfn, region, heat, &good))
			wanted--;
	}
	s->marked += entries - wanted;
	s->all_marked += entries - wanted;
	cost = (entries - wanted) * (ENTRY_NS + (double)FLUSH_NS * (s->memory->threads - 1) / BATCH);
	s->spent_ns += cost;
	s->lost_ns += cost;
	if (!s->where)
		marks_adapt(s->marks, s->memory->pages);
	return good;
}

bool sampler_run(struct sampler *s, uint64_t from_ns, uint64_t to_ns, double misses)
{
	double rate[AREAS], seconds = s->asked.period_ms / 1e3;
	struct heat heat[AREAS];
	unsigned int n;

	for (n = 0; n < s->memory->nr; n++) {
		rate[n] = rate_of(s->memory, &s->memory->area[n], misses);
		heat[n] = (struct heat){ rate[n], 1 - exp(-rate[n] * seconds), 1 - exp(-rate[n] * CHUNK * seconds) };
	}
	s->nr = 0;
	s->all_marked = s->faults = 0;
	s->lost_ns = 0;
	if (s->where)
		s->lost_ns += where_scan(s->where, s->memory, rate, from_ns, to_ns, &s->chance);
	if (s->next_ns < from_ns)
		s->next_ns = from_ns;
	while (s->next_ns < to_ns) {
		uint64_t ran = (s->next_ns - s->run_ns) * s->memory->threads;

		s->run_ns = s->next_ns;
		n = marks_begin(s->marks, ran, s->spent_ns, s->marked);
		s->spent_ns = s->marked = 0;
		if (!mark_some(s, n, heat))
			return false;
		s->next_ns += marks_length_ns(s->marks);
	}
	return true;
}
