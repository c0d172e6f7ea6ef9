/* SPDX-License-Identifier: GPL-2.0-only */
/* Releases: what is done in one section of the lock, however a batch is made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>

#define BLOCKS 28U
#define PAGES (1UL << 9)

/* What the issue is: no more than this, by what the p2m says was done. */
#define BOUND (512U + 2 * 64U)

static struct p2m_domain *p2m;
static struct { bool large, small; struct page_info *frames; bool gone[512]; } block[BLOCKS];
static bool gib, no_tables;	/* each block is the first one of 1 GiB */
static unsigned int done, tries, rounds;
static uint64_t result[P2M_NUMA_RELEASE_RESULTS];

static unsigned int block_of(gfn_t gfn)
{
	return gib ? gfn_x(gfn) >> 18 : gfn_x(gfn) / PAGES;
}

static mfn_t get_entry(struct p2m_domain *unused, gfn_t gfn, p2m_type_t *t, p2m_access_t *a, int q, unsigned int *order, bool *s)
{
	unsigned int b = block_of(gfn), i = gfn_x(gfn) % PAGES;

	assert_true(b < BLOCKS);
	done++;
	*a = p2m_access_rwx;
	*t = block[b].gone[i] ? p2m_populate_on_demand : p2m_ram_rw;
	*order = block[b].large ? 18 : block[b].small ? 0 : 9;
	return mfn_add(page_to_mfn(block[b].frames), i);
}

static int set_entry(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t)
{
	unsigned int b = block_of(gfn), i = gfn_x(gfn) % PAGES;

	assert_true(t == p2m_populate_on_demand);
	tries++;
	if (block[b].large) {
		if (no_tables)
			return -ENOMEM;
		block[b].large = false;
		done += 64;
	}
	if (!order && !block[b].small) {
		if (no_tables)
			return -ENOMEM;
		block[b].small = true;
		done += 64;
	}
	if (order)
		done += PAGES - 1;	/* one was counted when it was looked at */
	memset(&block[b].gone[i], true, 1UL << order);
	return 0;
}

static int setup(void **unused)
{
	machine_reset();
	p2m = &dom.p2m;
	p2m->get_entry = get_entry;
	machine_set_entry = set_entry;
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	memset(block, 0, sizeof(block));
	memset(result, 0, sizeof(result));
	gib = no_tables = false;
	tries = rounds = 0;
	for (unsigned int b = 0; b < BLOCKS; b++) {
		block[b].frames = machine_give(b % NODES, 9);
		for (unsigned int i = 0; i < PAGES; i++)
			machine_list(&block[b].frames[i]);
	}
	return 0;
}

static int teardown(void **unused)
{
	struct page_info *pg;
	unsigned long released = 0;
	unsigned int order;

	/* They are the domain's as before, and what is in the reserve is what was released. */
	assert_int_equal(machine_owned(&dom), BLOCKS * PAGES);
	assert_int_equal(p2m->pod.count, result[P2M_NUMA_RELEASED]);
	while ((pg = p2m_reserve_empty(p2m, &order)))
		released += 1UL << order;
	assert_int_equal(released, result[P2M_NUMA_RELEASED]);
	machine_set_entry = NULL;
	p2m_reserve_free(p2m);
	return 0;
}

struct piece {
	unsigned long gfn;
	unsigned int nr;
};

/* As page-events.c goes through a batch. */
static void release(const struct piece *piece, unsigned int nr)
{
	struct p2m_numa_release r;

	for (unsigned int i = 0; i < nr; rounds++) {
		unsigned int first = i;

		assert_int_equal(p2m_numa_release_begin(&r, &dom), 0);
		done = 0;
		while (i < nr && p2m_numa_release(&r, _gfn(piece[i].gfn), piece[i].nr))
			i++;
		assert_in_range(done, 0, BOUND);
		p2m_numa_release_end(&r);
		assert_true(i > first);
		for (unsigned int j = 0; j < P2M_NUMA_RELEASE_RESULTS; j++)
			result[j] += r.pages[j];
	}
}

static void an_event_may_divide_a_superpage(void **unused)
{
	struct piece piece[BLOCKS];

	for (unsigned int b = 0; b < BLOCKS; b++)
		piece[b] = (struct piece){ b * PAGES + 7 * b, 1 };
	release(piece, BLOCKS);
	assert_int_equal(result[P2M_NUMA_RELEASED], BLOCKS);
	assert_true(rounds > 1);
}

/* Half of a superpage, which divides it, and the rest of the next one. */
static void pieces_of_any_size(void **unused)
{
	unsigned int seed = 1;

	for (unsigned int n = 0; n < 30; n++) {
		struct piece piece[BLOCKS];
		uint64_t pages = 0, sum = 0;

		if (n) {
			teardown(NULL);
			setup(NULL);
		}
		for (unsigned int b = 0; b < BLOCKS; b++) {
			unsigned int at = rand_r(&seed) % 2 ? rand_r(&seed) % PAGES : 0;
			unsigned int len = rand_r(&seed) % 3 ? 1 + rand_r(&seed) % (PAGES - at) : PAGES - at;

			piece[b] = (struct piece){ b * PAGES + at, len };
			pages += len;
			/* Somebody else uses one: what can go, goes. */
			if (rand_r(&seed) % 4 == 0)
				block[b].frames[at].count_info++;
		}
		release(piece, BLOCKS);
		for (unsigned int b = 0; b < BLOCKS; b++)
			for (unsigned int i = 0; i < PAGES; i++)
				if (block[b].frames[i].count_info != (PGC_allocated | 1)) {
					assert_false(block[b].gone[i]);
					block[b].frames[i].count_info--;
				}
		for (unsigned int j = 0; j < P2M_NUMA_RELEASE_RESULTS; j++)
			sum += result[j];
		assert_int_equal(sum, pages);
		assert_int_equal(result[P2M_NUMA_RELEASED] + result[P2M_NUMA_BUSY], pages);
	}
}

/* Two tables are made for one page of 1 GiB. */
static void a_gib_is_divided_twice(void **unused)
{
	struct piece piece[BLOCKS];

	gib = true;
	for (unsigned int b = 0; b < BLOCKS; b++) {
		piece[b] = (struct piece){ (unsigned long)b << 18, b ? 1 : PAGES };
		block[b].large = true;
	}
	block[0].frames[100].count_info++;
	release(piece, BLOCKS);
	block[0].frames[100].count_info--;
	assert_int_equal(result[P2M_NUMA_RELEASED], PAGES - 1 + BLOCKS - 1);
	assert_int_equal(result[P2M_NUMA_BUSY], 1);
}

static void small_pages_are_one_round(void **unused)
{
	struct piece piece[512];

	for (unsigned int i = 0; i < 512; i++)
		piece[i] = (struct piece){ i / 256 * PAGES + i % 256 * 2, 1 };
	for (unsigned int b = 0; b < 2; b++)
		block[b].small = true;
	release(piece, 512);
	assert_int_equal(rounds, 1);
	assert_int_equal(result[P2M_NUMA_RELEASED], 512);
}

/* It may be 512 entries, which is not known before. */
static void so_is_a_superpage(void **unused)
{
	struct piece piece[] = { { 0, PAGES }, { PAGES, PAGES } };

	release(piece, 2);
	assert_int_equal(rounds, 2);
	assert_int_equal(result[P2M_NUMA_RELEASED], 2 * PAGES);
}

static void without_a_table_it_is_tried_once(void **unused)
{
	struct piece piece[] = { { 1, PAGES - 1 }, { PAGES, PAGES } };

	no_tables = true;
	block[1].frames[5].count_info++;
	release(piece, 2);
	block[1].frames[5].count_info--;
	assert_int_equal(tries, 2);
	assert_int_equal(result[P2M_NUMA_NO_ROOM], 2 * PAGES - 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_may_divide_a_superpage), TEST(pieces_of_any_size), TEST(a_gib_is_divided_twice), TEST(small_pages_are_one_round),
		TEST(so_is_a_superpage), TEST(without_a_table_it_is_tried_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
