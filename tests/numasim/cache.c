/* SPDX-License-Identifier: GPL-2.0-only */
/* Caches of machine addresses. */
#include <glib.h>
#include <string.h>

#include "cache.h"

static cached *set_of(struct cache *cache, uint32_t line)
{
	return &cache->entry[(size_t)(line % cache->shape.sets) * cache->shape.ways];
}

static cached get(cached *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

static void set(cached *entry, cached value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

struct cache *cache_new(const struct geometry *shape)
{
	struct cache *cache = g_malloc(sizeof(*cache) + sizeof(cached) * shape->sets * shape->ways);

	cache->shape = *shape;
	cache_empty(cache);
	return cache;
}

void cache_empty(struct cache *cache)
{
	memset(cache->entry, 0xff, sizeof(cached) * cache->shape.sets * cache->shape.ways);
}

struct filter *filter_new(const struct geometry *shape)
{
	struct filter *filter = g_malloc(sizeof(*filter) + sizeof(uint64_t) * shape->sets * shape->ways);

	filter->ways = shape->ways;
	filter->set_mask = shape->sets - 1;
	filter_empty(filter);
	return filter;
}

void filter_empty(struct filter *filter)
{
	memset(filter->entry, 0xff, sizeof(uint64_t) * (filter->set_mask + 1) * filter->ways);
}

void filter_drop(struct filter *filter, uint64_t address)
{
	uint64_t line = address >> LINE_SHIFT;

	filter_take(&filter->entry[(line & filter->set_mask) * filter->ways], 0, filter->ways, line << LINE_IN_FILTER);
}

static uint64_t machine_part(uint32_t line)
{
	return (uint64_t)(line & ((1u << MACHINE_BITS) - 1)) << 1;
}

void filter_tag(struct filter *filter, uint64_t address, uint32_t line)
{
	uint64_t *first = &filter->entry[(address >> LINE_SHIFT & filter->set_mask) * filter->ways];

	*first = (*first & ~machine_part(UINT32_MAX)) | machine_part(line);
}

/* Puts an entry, or the same without DIRTY, in place of what may be this line of the machine. */
static void replace(struct filter *filter, uint32_t line, bool keep)
{
	uint64_t mask = machine_part(UINT32_MAX), wanted = machine_part(line);

	for (uint64_t set = line % FILTER_PAGE & filter->set_mask; set <= filter->set_mask; set += FILTER_PAGE)
		for (unsigned int way = 0; way < filter->ways; way++) {
			uint64_t *entry = &filter->entry[set * filter->ways + way];
			uint64_t here = __atomic_load_n(entry, __ATOMIC_RELAXED);

			/* its own thread may have moved it: then that one wins */
			if (here != NO_ENTRY && (here & mask) == wanted)
				__atomic_compare_exchange_n(entry, &here, keep ? here & ~(uint64_t)DIRTY : NO_ENTRY, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		}
}

void filter_lose(struct filter *filter, uint32_t line)
{
	replace(filter, line, false);
}

void filter_clean(struct filter *filter, uint32_t line)
{
	replace(filter, line, true);
}

uint64_t filter_take(uint64_t *set, unsigned int way, unsigned int ways, uint64_t wanted)
{
	for (; way < ways; way++)
		if ((set[way] ^ wanted) >> LINE_IN_FILTER == 0) {
			wanted = set[way];
			set[way] = NO_ENTRY;
			return wanted;
		}
	return NO_ENTRY;
}

cached cache_take(struct cache *cache, uint32_t line)
{
	cached *entry = set_of(cache, line);
	unsigned int way = 0, ways = cache->shape.ways;
	cached found;

	while (way < ways && get(&entry[way]) >> 1 != line)
		way++;
	if (way == ways)
		return NO_LINE;
	found = get(&entry[way]);
	for (; way + 1 < ways; way++)
		set(&entry[way], get(&entry[way + 1]));
	set(&entry[way], NO_LINE);
	return found;
}

cached cache_put(struct cache *cache, cached line)
{
	cached *entry = set_of(cache, line >> 1);
	cached moved = line;

	/* down to the first hole, or over the end */
	for (unsigned int way = 0; way < cache->shape.ways && moved != NO_LINE; way++) {
		cached here = get(&entry[way]);

		set(&entry[way], moved);
		moved = here;
	}
	return moved;
}

bool cache_dirty(struct cache *cache, uint32_t line)
{
	if (cache_take(cache, line) == NO_LINE)
		return false;
	cache_put(cache, line << 1 | DIRTY);
	return true;
}
