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
	uint64_t *set = &filter->entry[(line & filter->set_mask) * filter->ways];
	unsigned int way = 0;

	while (way < filter->ways && set[way] >> 1 != line)
		way++;
	if (way == filter->ways)
		return;
	/* no hole before others: filter_use() would drive out one of them */
	for (; way + 1 < filter->ways; way++)
		set[way] = set[way + 1];
	set[way] = UINT64_MAX;
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
