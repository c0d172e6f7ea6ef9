/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "memory.h"

/* 2 MiB: one entry, small pages on one node, as round-4k has them, or each where small[] says. */
enum state { WHOLE, ALIKE, ROUND, APART };

struct chunk {
	uint8_t *small;
	uint8_t state, node;
};

struct area *memory_add(struct memory *m, const char *name, uint64_t pages, enum layout layout, int touched)
{
	struct area *a = &m->area[m->nr];

	if (m->nr == AREAS)
		return NULL;
	*a = (struct area){ .first = m->pages, .pages = pages, .layout = layout, .touched = touched };
	snprintf(a->name, sizeof(a->name), "%s", name);
	m->pages += (a->pages + CHUNK - 1) / CHUNK * CHUNK;
	m->nr++;
	return a;
}

struct area *memory_area(const struct memory *m, uint64_t gfn)
{
	struct area *a = gfn < m->pages ? (struct area *)&m->area[m->area_of[gfn / CHUNK]] : NULL;

	return a && gfn - a->first < a->pages ? a : NULL;
}

unsigned int memory_thread(const struct memory *m, const struct area *a, uint64_t gfn)
{
	uint64_t page = gfn - a->first;

	switch (a->layout) {
	case LAYOUT_BLOCKS:
		return page * m->threads / a->pages;
	case LAYOUT_SCATTERED:
		return chance_of(m->seed ^ gfn / CHUNK) % m->threads;
	default:
		return chance_of(m->seed ^ gfn) % m->threads;
	}
}

static uint8_t round_4k(const struct memory *m, uint64_t gfn)
{
	return gfn % m->nodes;
}

uint8_t memory_node(const struct memory *m, uint64_t gfn)
{
	const struct chunk *c = &m->chunk[gfn / CHUNK];

	return c->state == ROUND ? round_4k(m, gfn) : c->state == APART ? c->small[gfn % CHUNK] : c->node;
}

unsigned int memory_order(const struct memory *m, uint64_t gfn)
{
	return m->chunk[gfn / CHUNK].state == WHOLE ? 9 : 0;
}

static void count(struct memory *m, struct area *a, uint64_t gfn, uint8_t node, int n)
{
	a->count[memory_thread(m, a, gfn) * m->nodes + node] += n;
	m->free[node] -= n;
}

static uint8_t toucher(const struct memory *m, const struct area *a, uint64_t gfn)
{
	if (a->touched == TOUCH_ALL)
		return chance_of(~m->seed ^ gfn) % m->nodes;
	return a->touched == TOUCH_OWN ? m->node_of[memory_thread(m, a, gfn)] : a->touched;
}

/* The next one with room, if there is none on that. */
static uint8_t with_room(const struct memory *m, uint8_t node, uint64_t pages)
{
	unsigned int i;

	for (i = 0; i < m->nodes; i++)
		if (m->free[(node + i) % m->nodes] >= pages)
			return (node + i) % m->nodes;
	return node;
}

static bool divide(struct memory *m, uint64_t chunk)
{
	struct chunk *c = &m->chunk[chunk];
	unsigned int i;

	if (c->state == APART)
		return true;
	c->small = malloc(CHUNK);
	if (!c->small)
		return false;
	for (i = 0; i < CHUNK; i++)
		c->small[i] = c->state == ROUND ? round_4k(m, chunk * CHUNK + i) : c->node;
	c->state = APART;
	return true;
}

static bool place_chunk(struct memory *m, struct area *a, uint64_t chunk, enum placement placement)
{
	uint64_t first = chunk * CHUNK, gfn, end = a->first + a->pages;
	struct chunk *c = &m->chunk[chunk];

	if (end > first + CHUNK)
		end = first + CHUNK;
	c->state = m->large ? WHOLE : ALIKE;
	switch (placement) {
	case PLACE_4K:
		c->state = ROUND;
		break;
	case PLACE_2M:
		c->node = chunk % m->nodes;
		break;
	case PLACE_1G:
		c->node = (chunk >> 9) % m->nodes;
		break;
	default:
		c->node = with_room(m, toucher(m, a, first), end - first);
		/* Of pages that are touched one by one, each goes to its own toucher. */
		if (!m->large && (a->touched == TOUCH_ALL || (a->touched == TOUCH_OWN && a->layout != LAYOUT_SCATTERED))) {
			if (!divide(m, chunk))
				return false;
			for (gfn = first; gfn < end; gfn++)
				c->small[gfn % CHUNK] = with_room(m, toucher(m, a, gfn), 1);
		}
	}
	for (gfn = first; gfn < end; gfn++)
		count(m, a, gfn, memory_node(m, gfn), 1);
	return true;
}

bool memory_place(struct memory *m, enum placement placement)
{
	uint64_t chunks = m->pages / CHUNK, i;
	unsigned int n;

	m->chunk = calloc(chunks + 1, sizeof(*m->chunk));
	m->area_of = calloc(chunks + 1, sizeof(*m->area_of));
	if (!m->chunk || !m->area_of)
		return false;
	for (n = 0; n < m->nr; n++) {
		struct area *a = &m->area[n];

		a->count = calloc(m->threads * m->nodes, sizeof(*a->count));
		if (!a->count)
			return false;
		for (i = a->first / CHUNK; i * CHUNK < a->first + a->pages; i++) {
			m->area_of[i] = n;
			if (!place_chunk(m, a, i, placement))
				return false;
		}
	}
	return true;
}

void memory_free(struct memory *m)
{
	uint64_t i;
	unsigned int n;

	for (i = 0; m->chunk && i < m->pages / CHUNK; i++)
		free(m->chunk[i].small);
	for (n = 0; n < m->nr; n++)
		free(m->area[n].count);
	free(m->chunk);
	free(m->area_of);
}

static bool move_small(struct memory *m, struct area *a, uint64_t gfn, uint8_t to)
{
	struct chunk *c = &m->chunk[gfn / CHUNK];

	if (!m->free[to] || !divide(m, gfn / CHUNK))
		return false;
	count(m, a, gfn, c->small[gfn % CHUNK], -1);
	c->small[gfn % CHUNK] = to;
	count(m, a, gfn, to, 1);
	return true;
}

bool memory_move(struct memory *m, uint64_t gfn, unsigned int order, uint8_t to)
{
	struct area *a = memory_area(m, gfn);
	struct chunk *c;
	uint64_t i;

	if (!a || to >= m->nodes)
		return false;
	if (!order)
		return move_small(m, a, gfn, to);
	c = &m->chunk[gfn / CHUNK];
	if (gfn % CHUNK || a->first + a->pages < gfn + CHUNK || m->free[to] < CHUNK)
		return false;
	for (i = gfn; i < gfn + CHUNK; i++) {
		count(m, a, i, memory_node(m, i), -1);
		count(m, a, i, to, 1);
	}
	free(c->small);
	*c = (struct chunk){ .state = WHOLE, .node = to };
	return true;
}

bool memory_interleave(struct memory *m, uint64_t gfn)
{
	struct area *a = memory_area(m, gfn);
	uint8_t to = round_4k(m, gfn);

	return a && memory_node(m, gfn) != to && move_small(m, a, gfn, to);
}

static void add_misses(const struct memory *m, const struct area *a, double of_a_page, double *misses)
{
	unsigned int t, i, h;

	for (t = 0; t < m->threads; t++)
		for (h = 0; h < m->nodes; h++) {
			double n = of_a_page * a->count[t * m->nodes + h];

			if (n <= 0)
				continue;
			switch (a->use.by) {
			case BY_OWN:
				misses[m->node_of[(t + a->use.arg) % m->threads] * m->nodes + h] += n;
				break;
			case BY_NODE:
				misses[a->use.arg * m->nodes + h] += n;
				break;
			default:
				/* Threads are spread evenly over the nodes, at any time. */
				for (i = 0; i < m->nodes; i++)
					misses[i * m->nodes + h] += n / m->nodes;
			}
		}
}

void memory_misses(const struct memory *m, double all, double *misses)
{
	double shares = 0;
	unsigned int n;

	memset(misses, 0, m->nodes * m->nodes * sizeof(*misses));
	for (n = 0; n < m->nr; n++)
		shares += m->area[n].use.share;
	for (n = 0; n < m->nr; n++)
		if (m->area[n].use.share > 0)
			add_misses(m, &m->area[n], all * m->area[n].use.share / shares / m->area[n].pages, misses);
}

uint64_t memory_bytes(const struct memory *m)
{
	uint64_t bytes = m->pages / CHUNK * (sizeof(*m->chunk) + sizeof(*m->area_of)), i;

	for (i = 0; i < m->pages / CHUNK; i++)
		bytes += m->chunk[i].small ? CHUNK : 0;
	return bytes;
}
