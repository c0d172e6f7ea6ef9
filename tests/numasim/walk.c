/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks of page tables: AMD64 Architecture Programmer's Manual, volume 2, 5.3 and 15.25. */
#include <glib.h>

#include "walk.h"

#define PRESENT 1u
#define LARGE (1u << 7)

static uint64_t index_of(uint64_t address, unsigned int level)
{
	return (address >> level_shift(level) & 511) * sizeof(uint64_t);
}

/* What an entry says: a page of some size, or a table. */
static bool is_page(uint64_t entry, unsigned int level, uint64_t address, uint64_t *found, enum page_size *size)
{
	uint64_t offset = (UINT64_C(1) << level_shift(level)) - 1;

	if (level < LEVELS - 1 && !(entry & LARGE))
		return false;
	*found = (entry & FRAME & ~offset) | (address & offset);
	*size = LEVELS - 1 - level;
	return true;
}

static bool follow(const struct memory *memory, uint64_t root, uint64_t address, struct path *path)
{
	uint64_t table = root & FRAME, entry;

	path->address = address;
	for (unsigned int level = 0; level < LEVELS; level++) {
		path->entry[level] = table | index_of(address, level);
		path->entries = level + 1;
		if (!memory_read(memory, path->entry[level], &entry) || !(entry & PRESENT) || (!level && entry & LARGE))
			return false;
		if (is_page(entry, level, address, &path->found, &path->size))
			return true;
		table = entry & FRAME;
	}
	return false;
}

/* From a guest's address, or from one that is a machine's already. */
static bool to_machine(const struct memory *memory, const struct paging *paging, uint64_t address, struct path *path)
{
	if (paging->nested_root != NOT_NESTED)
		return follow(memory, paging->nested_root, address, path);
	*path = (struct path){ .address = address, .found = address, .size = PAGE_1G };
	return true;
}

bool walk(const struct memory *memory, const struct paging *paging, uint64_t address, struct walk *walk)
{
	uint64_t table = paging->root & FRAME, found = address, entry;
	unsigned int level = 0;

	walk->entries = 0;
	walk->size = PAGE_1G;
	if (paging->paged && paging->root == NO_TABLE)
		return false;
	while (paging->paged) {
		if (!to_machine(memory, paging, table | index_of(address, level), &walk->where[level]))
			return false;
		walk->entry[level] = walk->where[level].found;
		walk->entries = level + 1;
		if (!memory_read(memory, walk->entry[level], &entry) || !(entry & PRESENT) || (!level && entry & LARGE))
			return false;
		if (is_page(entry, level, address, &found, &walk->size))
			break;
		table = entry & FRAME;
		level++;
	}
	if (!to_machine(memory, paging, found, &walk->last))
		return false;
	walk->size = MIN(walk->size, walk->last.size);
	return true;
}
