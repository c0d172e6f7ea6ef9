/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks without any cache, counted by hand: which entries, how many, and how large the page is. */
#include "test-tables.h"

#define VIRTUAL (0x7f0000000000 + (uint64_t)GIB)
#define DATA (UINT64_C(1) << 30)	/* begins a page of each size */

static unsigned int entries_of(const struct walk *w)
{
	unsigned int n = w->entries + w->last.entries;

	for (unsigned int level = 0; level < w->entries; level++)
		n += w->where[level].entries;
	return n;
}

static void native_walks_read_an_entry_a_level(void **state)
{
	(void)state;
	for (enum page_size size = 0; size < PAGE_SIZES; size++) {
		struct tables t = tables_new(false, 0);
		struct walk w;

		map(&t, VIRTUAL, DATA, size);
		assert_true(walk(t.memory, &t.paging, VIRTUAL + 4095, &w));
		assert_int_equal(entries_of(&w), 4 - size);
		assert_int_equal(w.size, size);
		assert_int_equal(w.last.found, DATA + 4095);
		/* 0x7f0040000000: 254, 1, 0, 0 */
		assert_int_equal(w.entry[0], HYPERVISOR + 254 * 8);
		assert_int_equal(w.entry[1], HYPERVISOR + 4096 + 1 * 8);
		assert_false(walk(t.memory, &t.paging, VIRTUAL + ((uint64_t)GIB << size), &w));
		tables_free(&t);
	}
}

/* Guest's levels, each with a nested walk before it, and a nested walk of what is found. */
static void nested_walks_read_up_to_24(void **state)
{
	static const unsigned int truth[PAGE_SIZES][PAGE_SIZES] = { { 24, 19, 14 }, { 19, 15, 11 }, { 14, 11, 8 } };

	(void)state;
	for (enum page_size guest = 0; guest < PAGE_SIZES; guest++)
		for (enum page_size nested = 0; nested < PAGE_SIZES; nested++) {
			struct tables t = tables_new(true, nested);
			struct walk w;

			map(&t, VIRTUAL, DATA, guest);
			assert_true(walk(t.memory, &t.paging, VIRTUAL + 4095, &w));
			assert_int_equal(entries_of(&w), truth[guest][nested]);
			assert_int_equal(w.size, MIN(guest, nested));
			assert_int_equal(w.last.address, DATA + 4095);
			assert_int_equal(w.last.found, GUEST + DATA + 4095);
			assert_int_equal(w.entry[0], GUEST + GUEST_TABLES + 254 * 8);
			assert_int_equal(w.where[0].address, GUEST_TABLES + 254 * 8);
			assert_int_equal(w.where[0].entry[0], HYPERVISOR);
			tables_free(&t);
		}
}

static void guests_without_paging_have_nested_walks(void **state)
{
	struct tables t = tables_new(true, PAGE_2M);
	struct walk w;

	(void)state;
	map_nested(&t, 5 * MIB);
	t.paging.paged = false;
	assert_true(walk(t.memory, &t.paging, 5 * MIB, &w));
	assert_int_equal(entries_of(&w), 3);
	assert_int_equal(w.last.found, GUEST + 5 * MIB);
	assert_int_equal(w.size, PAGE_2M);
	tables_free(&t);
}

static void what_leads_nowhere_is_said(void **state)
{
	struct tables t = tables_new(true, PAGE_4K);
	struct walk w;

	(void)state;
	map(&t, VIRTUAL, DATA, PAGE_4K);
	/* an entry of the top level is never a page, and the guest has one there */
	map_nested(&t, 0);
	*entry_at(&t, GUEST + GUEST_TABLES + 3 * 8) = DATA | 0x81;
	assert_false(walk(t.memory, &t.paging, (uint64_t)3 << 39, &w));
	/* a page that is not present, natively and below */
	map(&t, VIRTUAL + 4096, DATA + 4096, PAGE_4K);
	assert_true(walk(t.memory, &t.paging, VIRTUAL + 4096, &w));
	*entry_at(&t, w.last.entry[LEVELS - 1]) &= ~UINT64_C(1);
	assert_false(walk(t.memory, &t.paging, VIRTUAL + 4096, &w));
	assert_true(walk(t.memory, &t.paging, VIRTUAL, &w));
	*entry_at(&t, w.entry[LEVELS - 1]) &= ~UINT64_C(1);
	assert_false(walk(t.memory, &t.paging, VIRTUAL, &w));
	/* a table where there is no memory */
	*entry_at(&t, GUEST + GUEST_TABLES + 4 * 8) = (UINT64_C(1) << 45) | 1;
	assert_false(walk(t.memory, &t.paging, (uint64_t)4 << 39, &w));
	t.paging.nested_root = UINT64_C(1) << 45;
	assert_false(walk(t.memory, &t.paging, VIRTUAL, &w));
	t.paging = (struct paging){ .paged = true, .root = NO_TABLE };
	assert_false(walk(t.memory, &t.paging, 0, &w));
	tables_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_walks_read_an_entry_a_level),
		cmocka_unit_test(nested_walks_read_up_to_24),
		cmocka_unit_test(guests_without_paging_have_nested_walks),
		cmocka_unit_test(what_leads_nowhere_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
