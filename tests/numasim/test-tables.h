/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables for the unit tests, in a memory of which only the MiBs with tables are there.  A guest has the machine's memory
 * from GUEST on, in order; so its tables, which lie in one of its 2 MiB, are there, too.
 */
#ifndef NUMASIM_TEST_TABLES_H
#define NUMASIM_TEST_TABLES_H

#include "test.h"
#include "walk.h"

#define HYPERVISOR MIB			/* tables of the hypervisor, or of a native kernel */
#define GUEST ((uint64_t)GIB)
#define GUEST_TABLES (16 * (uint64_t)MIB)	/* by guest's address */
#define TABLES_MIBS 16

struct tables {
	struct memory *memory;
	uint64_t next, next_guest;		/* free pages */
	struct paging paging;
	enum page_size nested_size;
};

static uint64_t *entry_at(struct tables *t, uint64_t machine)
{
	assert_non_null(t->memory->mib[machine >> MIB_SHIFT]);
	return (uint64_t *)(t->memory->mib[machine >> MIB_SHIFT] + (machine & MIB_MASK));
}

/* Maps in tables at `root`, whose addresses are `offset` below the machine's. */
static void map_at(struct tables *t, uint64_t root, uint64_t *next, uint64_t offset, uint64_t from, uint64_t to,
		   enum page_size size)
{
	uint64_t table = root;

	for (unsigned int level = 0; level < LEVELS; level++) {
		uint64_t *entry = entry_at(t, offset + table + (from >> level_shift(level) & 511) * 8);

		if (level == LEVELS - 1u - size) {
			*entry = to | (size ? 0x81 : 1);
			return;
		}
		if (!*entry) {
			*entry = *next | 1;
			*next += 4096;
		}
		table = *entry & FRAME;
	}
}

/* A page of the guest's is in the machine. */
static void map_nested(struct tables *t, uint64_t address)
{
	uint64_t page = address & ~((UINT64_C(1) << page_shift(t->nested_size)) - 1);

	map_at(t, t->paging.nested_root, &t->next, 0, page, GUEST + page, t->nested_size);
}

static void map(struct tables *t, uint64_t from, uint64_t to, enum page_size size)
{
	if (t->paging.nested_root == NOT_NESTED) {
		map_at(t, t->paging.root, &t->next, 0, from, to, size);
		return;
	}
	map_at(t, t->paging.root, &t->next_guest, GUEST, from, to, size);
	for (uint64_t page = GUEST_TABLES; page < t->next_guest; page += 4096)
		map_nested(t, page);
	map_nested(t, to);
}

static struct tables tables_new(bool nested, enum page_size nested_size)
{
	struct tables t = { .memory = memory_new(3072), .next = HYPERVISOR, .next_guest = GUEST_TABLES, .nested_size = nested_size };

	for (unsigned int mib = 0; mib < TABLES_MIBS; mib++) {
		t.memory->mib[(HYPERVISOR >> MIB_SHIFT) + mib] = g_malloc0(MIB);
		t.memory->mib[((GUEST + GUEST_TABLES) >> MIB_SHIFT) + mib] = g_malloc0(MIB);
	}
	t.paging.paged = true;
	if (nested) {
		t.paging.nested_root = t.next;
		t.next += 4096;
		t.paging.root = t.next_guest;
		t.next_guest += 4096;
	} else {
		t.paging.root = t.next;
		t.next += 4096;
	}
	return t;
}

static void tables_free(struct tables *t)
{
	for (unsigned int mib = 0; mib < t->memory->mibs; mib++)
		g_free((void *)t->memory->mib[mib]);
	g_free(t->memory);
}

#endif
