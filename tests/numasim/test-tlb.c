/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose hits in TLBs, and references of walks, are known by hand. */
#include "test-tables.h"

#include "sim.h"

#define VIRTUAL UINT64_C(0x7f0000000000)
#define DATA ((uint64_t)GIB)

static const char *const names[] = { "amd48", "xeon" };

static void map_pages(struct tables *t, uint64_t from, uint64_t to, unsigned int n, enum page_size size)
{
	for (unsigned int i = 0; i < n; i++)
		map(t, from + ((uint64_t)i << page_shift(size)), to + ((uint64_t)i << page_shift(size)), size);
}

/* Touches pages in turn; returns how many ended so. */
static unsigned int touch(struct tlb *tlb, const struct tables *t, uint64_t from, unsigned int n, uint64_t stride,
			  enum translated how)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += tlb_translate(tlb, &t->paging, from + i * stride) == how;
	return found;
}

/*
 * References of the first walk, a level of the guest's at a time, then those for the data.  Of 4K on 4K: the guest's tables are
 * four pages, which one nested table maps.  For the first the nested walk is four entries, for each other one; each with the
 * guest's own.  The data is in another 2 MiB: two more.  Larger nested pages have no last table, and one page has all the guest's
 * tables: a nested TLB knows it after the first; without one its entry is read each time.  A guest's GiB is in another GiB.
 */
static void walk_caches_hold_what_was_walked(void **state)
{
	static const unsigned int native[PAGE_SIZES] = { 4, 3, 2 };
	static const unsigned int nested[2][PAGE_SIZES][PAGE_SIZES] = { {
		{ 5 + 2 + 2 + 2 + 2, 4 + 1 + 1 + 1 + 1, 3 + 1 + 1 + 1 + 1 },
		{ 5 + 2 + 2 + 2, 4 + 1 + 1 + 1, 3 + 1 + 1 + 1 },
		{ 5 + 2 + 3, 4 + 1 + 2, 3 + 1 + 1 },
	}, {
		{ 5 + 2 + 2 + 2 + 2, 4 + 2 + 2 + 2 + 1, 3 + 2 + 2 + 2 + 1 },
		{ 5 + 2 + 2 + 2, 4 + 2 + 2 + 1, 3 + 2 + 2 + 1 },
		{ 5 + 2 + 3, 4 + 2 + 2, 3 + 2 + 1 },
	} };

	(void)state;
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++)
		for (enum page_size size = 0; size < PAGE_SIZES; size++)
			for (int below = -1; below < PAGE_SIZES; below++) {
				struct tables t = tables_new(below >= 0, MAX(below, 0));
				struct tlb *tlb = tlb_new(translation_of(names[i]), t.memory);

				map_pages(&t, VIRTUAL, size == PAGE_1G ? DATA : DATA / 2, size == PAGE_1G ? 1 : 2, size);
				assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL), WALKED);
				assert_int_equal(tlb->references, below < 0 ? native[size] : nested[i][size][below]);
				/* the neighbour: the last entry of each table; 2 MiB further on a nested 4K page has another table */
				if (size != PAGE_1G) {
					assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL + (4096 << 9 * size)), WALKED);
					assert_int_equal(tlb->references, below < 0 ? 1 : size && !below ? 3 : 2);
				}
				tlb_free(tlb);
				tables_free(&t);
			}
}

static void each_level_holds_its_entries(void **state)
{
	static const struct { unsigned int l1, l2; } truth[2][PAGE_SIZES - 1] = {
		{ { 48, 512 }, { 48, 128 } }, { { 96, 2048 }, { 32, 2048 } },
	};

	(void)state;
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++)
		for (enum page_size size = 0; size < PAGE_SIZES - 1; size++) {
			struct tables t = tables_new(false, 0);
			struct tlb *tlb = tlb_new(translation_of(names[i]), t.memory);
			unsigned int l1 = truth[i][size].l1, l2 = truth[i][size].l2;
			uint64_t stride = 4096 << 9 * size;

			map_pages(&t, VIRTUAL, 0, l2 + l2 / 2, size);
			assert_int_equal(touch(tlb, &t, VIRTUAL, l1, stride, WALKED), l1);
			assert_int_equal(touch(tlb, &t, VIRTUAL, l1, stride, IN_L1), l1);
			assert_int_equal(touch(tlb, &t, VIRTUAL, l2, stride, WALKED), l2 - l1);
			assert_int_equal(touch(tlb, &t, VIRTUAL, l2, stride, IN_L2), l2);
			/* half as many again: each set is one too small, or more, and nothing is left when it comes again */
			touch(tlb, &t, VIRTUAL, l2 + l2 / 2, stride, WALKED);
			assert_int_equal(touch(tlb, &t, VIRTUAL, l2 + l2 / 2, stride, WALKED), l2 + l2 / 2);
			tlb_empty(tlb);
			assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL), WALKED);
			tlb_free(tlb);
			tables_free(&t);
		}
}

/* A guest's large page on small nested ones is as many small ones. */
static void the_smaller_page_is_what_is_held(void **state)
{
	struct tables t = tables_new(true, PAGE_4K);
	struct tlb *tlb = tlb_new(translation_of("amd48"), t.memory);

	(void)state;
	map(&t, VIRTUAL, DATA, PAGE_2M);
	map_nested(&t, DATA + 4096);
	assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL), WALKED);
	assert_true(tlb_is_recent(tlb, t.paging.root, t.paging.nested_root, VIRTUAL + 4095));
	assert_false(tlb_is_recent(tlb, t.paging.root, t.paging.nested_root, VIRTUAL + 4096));
	assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL + 4095), IN_L1);
	assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL + 4096), WALKED);
	assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL + 8192), LOST);
	tlb_free(tlb);
	tables_free(&t);
}

static void address_spaces_are_told_apart(void **state)
{
	struct tables t = tables_new(false, 0);
	struct tlb *tlb = tlb_new(translation_of("amd48"), t.memory);
	struct paging first = t.paging, other = t.paging;

	(void)state;
	map(&t, VIRTUAL, DATA, PAGE_4K);
	other.root = t.next;
	t.next += 4096;
	t.paging = other;
	map(&t, VIRTUAL, DATA, PAGE_4K);
	assert_int_equal(tlb_translate(tlb, &first, VIRTUAL), WALKED);
	assert_false(tlb_is_recent(tlb, other.root, NOT_NESTED, VIRTUAL));
	assert_int_equal(tlb_translate(tlb, &other, VIRTUAL), WALKED);
	assert_int_equal(tlb_translate(tlb, &first, VIRTUAL), IN_L1);
	assert_int_equal(tlb_translate(tlb, &other, VIRTUAL), IN_L1);
	/* more of them than numbers: all begins anew */
	for (unsigned int i = 0; i < SPACES; i++) {
		other.root = t.next + i * 4096;
		assert_int_equal(tlb_translate(tlb, &other, VIRTUAL), LOST);
	}
	assert_int_equal(tlb_translate(tlb, &first, VIRTUAL), WALKED);
	tlb_free(tlb);
	tables_free(&t);
}

/* One page of each of n guest's tables in turn: what a walk reads when all went round before. */
static unsigned int references_of_tables(const char *name, unsigned int n)
{
	struct tables t = tables_new(true, PAGE_4K);
	struct tlb *tlb = tlb_new(translation_of(name), t.memory);
	unsigned int references = 0;

	for (unsigned int i = 0; i < n; i++)
		map_pages(&t, VIRTUAL + (uint64_t)i * 2 * MIB, 512 * (uint64_t)MIB, 9, PAGE_4K);
	/* another page of each table each time, so that the TLB has none */
	for (unsigned int page = 0; page < 9; page++)
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(tlb_translate(tlb, &t.paging, VIRTUAL + (uint64_t)i * 2 * MIB + page * 4096), WALKED);
			if (page == 8)
				references += tlb->references;
		}
	tlb_free(tlb);
	tables_free(&t);
	return references;
}

/* Three tables are above them.  Then the table itself is to be translated, by one entry. */
static void the_nested_tlb_holds_sixteen_tables(void **state)
{
	(void)state;
	assert_int_equal(references_of_tables("amd48", 13), 2 * 13);
	assert_int_equal(references_of_tables("amd48", 14), 3 * 14);
	/* a walk cache by virtual addresses knows where the table is: 32 entries, of which nested walks take two */
	assert_int_equal(references_of_tables("xeon", 28), 2 * 28);
	assert_true(references_of_tables("xeon", 32) > 2 * 32);
}

/* References go to L2, L3 and the node where the table is. */
static void walks_are_accesses(void **state)
{
	struct machine m = test_machine("tlb=amd48", NULL);
	struct sim *sim = sim_new(&m);
	struct sim_cpu *cpu = sim->cpu[5];
	struct tables t = tables_new(true, PAGE_4K);

	(void)state;
	map_pages(&t, VIRTUAL, 512 * (uint64_t)MIB, 2, PAGE_4K);
	memcpy(sim->memory->mib, t.memory->mib, t.memory->mibs * sizeof(t.memory->mib[0]));
	assert_false(sim_translate(sim, cpu, KERNEL, &t.paging, VIRTUAL));
	assert_int_equal(cpu->counts.walks[KERNEL], 1);
	/* 13 of them; the hypervisor's tables are in node 0, the guest's in node 1; three nested entries share a line */
	assert_int_equal(cpu->counts.walk_misses[KERNEL][1], 4);
	assert_int_equal(cpu->counts.walk_misses[KERNEL][0], 6);
	assert_int_equal(cpu->counts.walk_l2_hits[KERNEL], 3);
	/* the neighbours' entries are in lines that were read */
	assert_false(sim_translate(sim, cpu, USER, &t.paging, VIRTUAL + 4096));
	assert_int_equal(cpu->counts.walk_l2_hits[USER], 2);
	assert_int_equal(cpu->counts.misses[USER][0] + cpu->counts.misses[KERNEL][1], 0);
	assert_false(sim_translate(sim, cpu, USER, &t.paging, VIRTUAL + 8192));
	assert_int_equal(cpu->counts.walks_lost, 1);
	sim_free(sim);
	machine_free(&m);
	tables_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_caches_hold_what_was_walked),
		cmocka_unit_test(each_level_holds_its_entries),
		cmocka_unit_test(the_smaller_page_is_what_is_held),
		cmocka_unit_test(address_spaces_are_told_apart),
		cmocka_unit_test(the_nested_tlb_holds_sixteen_tables),
		cmocka_unit_test(walks_are_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
