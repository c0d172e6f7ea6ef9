/* SPDX-License-Identifier: GPL-2.0-only */
/* TLBs, the nested TLB and walk caches. */
#include <glib.h>
#include <string.h>

#include "tlb.h"

#define NESTED_TABLE 1u		/* in a tag of the walk cache: of the hypervisor's tables */

static void new_tables(const struct tlb_shape *shape, struct tags **table)
{
	for (unsigned int i = 0; i < TLBS; i++)
		if (shape->table[i].ways)
			table[i] = tags_new(shape->table[i].sets, shape->table[i].ways);
}

struct tlb *tlb_new(const struct translation *shape, const struct memory *memory)
{
	struct tlb *tlb = g_new0(struct tlb, 1);

	tlb->shape = shape;
	tlb->memory = memory;
	new_tables(&shape->l1, tlb->l1);
	new_tables(&shape->l2, tlb->l2);
	tlb->walk_cache = tags_new(1, shape->walk_cache);
	if (shape->nested_tlb)
		tlb->nested_tlb = tags_new(1, shape->nested_tlb);
	tlb_empty(tlb);
	return tlb;
}

void tlb_free(struct tlb *tlb)
{
	for (unsigned int i = 0; i < TLBS; i++) {
		g_free(tlb->l1[i]);
		g_free(tlb->l2[i]);
	}
	g_free(tlb->walk_cache);
	g_free(tlb->nested_tlb);
	g_free(tlb);
}

void tlb_empty(struct tlb *tlb)
{
	for (unsigned int i = 0; i < TLBS; i++) {
		if (tlb->l1[i])
			tags_empty(tlb->l1[i]);
		if (tlb->l2[i])
			tags_empty(tlb->l2[i]);
	}
	tags_empty(tlb->walk_cache);
	if (tlb->nested_tlb)
		tags_empty(tlb->nested_tlb);
	tlb->spaces = 0;
	tlb->now = (struct paging){ .root = NO_TAG };
	/* no address is on it */
	tlb->recent_mask = 0;
	tlb->recent = NO_TAG;
	memset(tlb->seen, 0, sizeof(tlb->seen));
}

static bool same(const struct paging *a, const struct paging *b)
{
	return a->paged == b->paged && a->root == b->root && a->nested_root == b->nested_root;
}

/* The number of this address space, and of its guest's. */
static void enter(struct tlb *tlb, const struct paging *now)
{
	unsigned int i = 0;

	if (same(&tlb->now, now))
		return;
	while (i < tlb->spaces && !same(&tlb->known[i], now))
		i++;
	if (i == SPACES) {
		tlb_empty(tlb);
		i = 0;
	}
	tlb->now = tlb->known[i] = *now;
	if (i == tlb->spaces)
		tlb->spaces++;
	tlb->space = tlb->nested_space = i;
	for (unsigned int other = 0; other < i; other++)
		if (tlb->known[other].nested_root == now->nested_root) {
			tlb->nested_space = other;
			return;
		}
}

static uint64_t tag_of(uint64_t number, unsigned int kind, unsigned int space)
{
	return number << 12 | kind << 8 | space;
}

static bool find(struct tlb *tlb, const struct tlb_shape *shape, struct tags **table, uint64_t address, enum page_size *size)
{
	for (*size = 0; *size < PAGE_SIZES; ++*size) {
		uint64_t page = address >> page_shift(*size);

		if (tlb->seen[*size] && shape->holds[*size] != NOWHERE &&
		    tags_find(table[shape->holds[*size]], page, tag_of(page, *size, tlb->space)))
			return true;
	}
	return false;
}

static void put(struct tlb *tlb, const struct tlb_shape *shape, struct tags **table, uint64_t address, enum page_size size)
{
	uint64_t page = address >> page_shift(size);

	tlb->seen[size] = true;
	if (shape->holds[size] != NOWHERE)
		tags_put(table[shape->holds[size]], page, tag_of(page, size, tlb->space));
}

/* By what a walk cache knows an entry: where it is, or its level and what is walked for. */
static uint64_t cache_tag(const struct tlb *tlb, uint64_t entry, uint64_t walked, unsigned int level, bool nested)
{
	if (!tlb->shape->by_walked_address)
		return entry;
	return tag_of(walked >> level_shift(level), level << 1 | (nested ? NESTED_TABLE : 0), nested ? tlb->nested_space : tlb->space);
}

/* Reads one entry, or has it.  The last of a walk is the TLB's, and in no walk cache. */
static void reference(struct tlb *tlb, uint64_t entry, uint64_t tag, bool last)
{
	if (!last && tags_find(tlb->walk_cache, 0, tag))
		return;
	tlb->reference[tlb->references++] = entry;
	if (!last)
		tags_put(tlb->walk_cache, 0, tag);
}

/* The first level that has to be read: below the deepest one that is cached, where that is known at once. */
static unsigned int first_level(struct tlb *tlb, uint64_t walked, unsigned int entries, bool nested)
{
	if (tlb->shape->by_walked_address)
		for (unsigned int level = entries - 1; level-- > 0;)
			if (tags_find(tlb->walk_cache, 0, cache_tag(tlb, 0, walked, level, nested)))
				return level + 1;
	return 0;
}

/* An address of the guest's becomes one of the machine's; nothing if it is one. */
static void nested_references(struct tlb *tlb, const struct path *path, bool is_table)
{
	uint64_t tag = tag_of(path->address >> page_shift(path->size), path->size, tlb->nested_space);

	if (!path->entries || (is_table && tlb->nested_tlb && tags_find(tlb->nested_tlb, 0, tag)))
		return;
	for (unsigned int level = first_level(tlb, path->address, path->entries, true); level < path->entries; level++)
		reference(tlb, path->entry[level], cache_tag(tlb, path->entry[level], path->address, level, true),
			  level == path->entries - 1);
	/* pages with data have the TLB, and would drive out those with tables */
	if (is_table && tlb->nested_tlb)
		tags_put(tlb->nested_tlb, 0, tag);
}

static void all_references(struct tlb *tlb, const struct walk *walk, uint64_t address)
{
	unsigned int first = walk->entries ? first_level(tlb, address, walk->entries, false) : 0;

	tlb->references = 0;
	for (unsigned int level = first; level < walk->entries; level++) {
		/* what is cached by the walked address says where the next table is in the machine */
		if (!first || level > first)
			nested_references(tlb, &walk->where[level], true);
		reference(tlb, walk->entry[level], cache_tag(tlb, walk->entry[level], address, level, false),
			  level == walk->entries - 1);
	}
	nested_references(tlb, &walk->last, false);
}

static void remember(struct tlb *tlb, uint64_t address, enum page_size size)
{
	tlb->recent_mask = ~((UINT64_C(1) << page_shift(size)) - 1);
	tlb->recent = address & tlb->recent_mask;
}

enum translated tlb_translate(struct tlb *tlb, const struct paging *now, uint64_t address)
{
	enum page_size size;
	struct walk found;

	enter(tlb, now);
	if (find(tlb, &tlb->shape->l1, tlb->l1, address, &size)) {
		remember(tlb, address, size);
		return IN_L1;
	}
	if (find(tlb, &tlb->shape->l2, tlb->l2, address, &size)) {
		put(tlb, &tlb->shape->l1, tlb->l1, address, size);
		remember(tlb, address, size);
		return IN_L2;
	}
	if (!walk(tlb->memory, now, address, &found))
		return LOST;
	all_references(tlb, &found, address);
	put(tlb, &tlb->shape->l1, tlb->l1, address, found.size);
	put(tlb, &tlb->shape->l2, tlb->l2, address, found.size);
	remember(tlb, address, found.size);
	return WALKED;
}
