/* SPDX-License-Identifier: GPL-2.0-only */
/* Populating by policy: every page where it belongs, or nothing at all. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "private.h"
#include <xen/numa-policy.h>

static struct domain dom;
static struct domain control = { .domain_id = 0 }, another = { .domain_id = 7 };
static struct vcpu caller = { .domain = &control }, sibling = { .domain = &control }, other = { .domain = &another };
static bool need_flush;
static uint32_t stamp;

static void new_domain(const char *policy, unsigned long affinity)
{
	if (dom.numa_policy)
		domain_numa_policy_destroy(&dom);
	assert_int_equal(test_param(policy), 0);
	dom = (struct domain){ .hvm = true, .max_pages = 1U << 30 };
	dom.node_affinity.bits[0] = affinity;
	assert_int_equal(domain_numa_policy_init(&dom), 0);
	current = &caller;
	machine_preempt_percent = machine_p2m_fail_percent = 0;
}

static int populate_once(unsigned long gfn, unsigned int order)
{
	int rc = numa_policy_populate(&dom, _gfn(gfn), order, MEMF_no_tlbflush,
				      &need_flush, &stamp);

	assert_int_equal(test_locks_held, 0);
	assert_int_equal(machine_gfns_locked, 0);
	return rc;
}

static int populate(unsigned long gfn, unsigned int order)
{
	int rc;

	do
		rc = populate_once(gfn, order);
	while (rc == -ERESTART);
	return rc;
}

static nodeid_t node_at(unsigned long gfn)
{
	assert_true(p2m[gfn].present);
	return machine_node_of(p2m[gfn].mfn);
}

static void grain_decides_what_is_divided(void **unused)
{
	const unsigned long pages[] = { 8192, 8192, 8192, 8192 };

	(void)unused;
	machine_reset(4, pages);
	new_domain("round-4k", 0xf);
	assert_int_equal(populate(0, 11), 0);
	for (unsigned long g = 0; g < 2048; g++) {
		assert_int_equal(node_at(g), g % 4);
		assert_int_equal(p2m[g].order, 0);
	}
	assert_int_equal(dom.numa_policy->placed, 2048);

	new_domain("round-2m", 0xf);
	assert_int_equal(populate(4096, 11), 0);
	for (unsigned long g = 4096; g < 6144; g++) {
		assert_int_equal(node_at(g), g / 512 % 4);
		assert_int_equal(p2m[g].order, 9);
	}

	new_domain("round-1g", 0xf);
	assert_int_equal(populate(8192, 11), 0);
	for (unsigned long g = 8192; g < 10240; g++) {
		assert_int_equal(node_at(g), 0);
		assert_int_equal(p2m[g].order, 11);
	}

	/* One home node: never divided. */
	new_domain("round-4k", 0x4);
	assert_int_equal(populate(12288, 11), 0);
	assert_int_equal(node_at(12288), 2);
	assert_int_equal(p2m[12288].order, 11);
	assert_int_equal(dom.numa_policy->fallback, 0);
}

static void an_unaligned_extent_is_placed_page_by_page(void **unused)
{
	const unsigned long pages[] = { 4096, 4096 };

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-2m", 3);
	assert_int_equal(populate(100, 9), 0);
	for (unsigned long g = 100; g < 612; g++)
		assert_int_equal(node_at(g), g / 512);
}

static void a_full_node_is_replaced_by_a_home_node(void **unused)
{
	const unsigned long pages[] = { 100, 4096, 4096, 4096 };

	(void)unused;
	machine_reset(4, pages);
	test_distance[0][1] = 30;
	test_distance[0][2] = 15;
	new_domain("round-4k", 3);
	assert_int_equal(populate(0, 9), 0);
	for (unsigned long g = 0; g < 512; g++)
		assert_int_equal(node_at(g), g % 2 ? 1 : g / 2 < 100 ? 0 : 1);
	assert_int_equal(dom.numa_policy->placed, 256 + 100);
	assert_int_equal(dom.numa_policy->fallback, 156);

	/* Of two home nodes the nearer one. */
	machine_reset(4, pages);
	test_distance[0][2] = 15;
	test_distance[0][1] = 11;
	test_distance[0][3] = 14;
	new_domain("round-4k", 0xd);
	assert_int_equal(populate(0, 9), 0);
	for (unsigned long g = 300; g < 512; g += 3)
		assert_int_equal(node_at(g), 3);
}

/* Not before: the memory of others is theirs, as long as there is an own node with some. */
static void full_home_nodes_are_replaced_by_the_nearest(void **unused)
{
	const unsigned long pages[] = { 100, 4096, 4096, 200 };

	(void)unused;
	machine_reset(4, pages);
	test_distance[0][1] = 30;
	test_distance[0][2] = 15;
	test_distance[3][1] = 12;
	new_domain("round-4k", 0x9);
	assert_int_equal(populate(0, 9), 0);
	assert_int_equal(avail_node_heap_pages(0), 0);
	assert_int_equal(avail_node_heap_pages(3), 0);
	for (unsigned long g = 0; g < 512; g++)
		if (node_at(g) != 0 && node_at(g) != 3)
			assert_int_equal(node_at(g), g % 2 ? 1 : 2);
	assert_int_equal(dom.numa_policy->placed + dom.numa_policy->fallback, 512);
}

static void a_superpage_moves_whole_to_the_next_node(void **unused)
{
	const unsigned long pages[] = { 511, 4096 };

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-2m", 3);
	assert_int_equal(populate(0, 9), 0);
	assert_int_equal(node_at(0), 1);
	assert_int_equal(p2m[0].order, 9);
	assert_int_equal(dom.numa_policy->fallback, 512);
}

static void a_fragmented_node_is_used_in_pieces(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };

	(void)unused;
	test_seed();
	machine_reset(2, pages);
	machine_fragment(0, 50);
	new_domain("round-2m", 3);
	assert_int_equal(populate(0, 10), 0);
	for (unsigned long g = 0; g < 1024; g++)
		assert_int_equal(node_at(g), g / 512);
	assert_int_equal(p2m[0].order, 0);
	assert_int_equal(p2m[512].order, 9);
	assert_int_equal(dom.numa_policy->fallback, 0);
}

static unsigned long free_for_dma(void)
{
	return avail_node_heap_pages(0) - avail_node_no_dma_pages(0);
}

static void what_devices_need_is_taken_last(void **unused)
{
	const unsigned long pages[] = { 2048, 2048 };

	(void)unused;
	for (unsigned int i = 0; i < 3; i++) {
		machine_reset(2, pages);
		machine_dma_pages = 1024;
		new_domain(i ? "round-2m" : "round-4k", i < 2 ? 3 : 1);
		for (unsigned long g = 0; g < 4096; g += 512) {
			assert_int_equal(populate(g, 9), 0);
			assert_int_equal(free_for_dma(), g < 3072 ? 1024 : 4096 - 512 - g);
		}
		assert_int_equal(dom.numa_policy->placed + dom.numa_policy->fallback, 4096);
	}

	/* Nor does it count as memory in smaller pieces. */
	machine_reset(2, pages);
	machine_dma_pages = 2048 - 256;
	new_domain("round-2m", 1);
	assert_int_equal(populate(0, 9), 0);
	assert_int_equal(node_at(0), 1);
	assert_int_equal(p2m[0].order, 9);

	/* But for who asks for low addresses. */
	assert_int_equal(numa_policy_populate(&dom, _gfn(512), 9, MEMF_no_tlbflush | 1U << _MEMF_bits, &need_flush, &stamp), 0);
	assert_int_equal(node_at(512), 0);
}

/* What others have claimed is not looked for in pieces; what the domain has claimed itself is there. */
static void what_is_claimed_is_nobody_elses(void **unused)
{
	const unsigned long pages[] = { 2048, 2048 };

	(void)unused;
	for (unsigned int own = 0; own < 2; own++) {
		machine_reset(2, pages);
		machine_claimed = 4096 - 511 * !own;
		machine_own_claim = own * 1024;
		new_domain("round-2m", 3);
		assert_int_equal(populate(0, 9), own ? 0 : -ENOMEM);
		assert_true(machine_asked <= 4);
		assert_int_equal(machine_owned(), own * 512);
		assert_int_equal(machine_own_claim, own * 512);
	}

	/* In pieces, of one's own claim. */
	machine_reset(2, pages);
	machine_own_claim = 1024;
	machine_fragment(0, 50);
	machine_claimed = avail_node_heap_pages(0) + avail_node_heap_pages(1);
	new_domain("round-2m", 1);
	assert_int_equal(populate(0, 9), 0);
	assert_int_equal(node_at(0), 0);
	assert_int_equal(machine_own_claim, 512);
}

static void a_preempted_caller_goes_on_where_it_was(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };
	unsigned int calls = 0;
	int rc;

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-4k", 3);
	machine_preempt_percent = 100;
	do {
		rc = populate_once(0, 12);
		/* Somebody else meanwhile: large ones refused, others served. */
		if (!calls++) {
			assert_int_equal(populate_once(8192, 12), -EBUSY);
			assert_int_equal(populate_once(0, 11), -EBUSY);
			current = &other;
			assert_int_equal(populate_once(0, 12), -EBUSY);
			assert_int_equal(populate(16384, 9), 0);
		}
		/* A domain's thread may go on from another vCPU. */
		current = calls % 2 ? &sibling : &caller;
	} while (rc == -ERESTART);
	assert_int_equal(rc, 0);
	assert_int_equal(calls, 8);
	for (unsigned long g = 0; g < 4096; g++)
		assert_int_equal(node_at(g), g % 2);
	assert_int_equal(machine_owned(), 4096 + 512);

	/* The cursor is free again. */
	current = &other;
	assert_int_equal(populate(8192, 11), 0);
}

static unsigned int refused;

static void populate_the_same(void)
{
	machine_meanwhile = NULL;
	current = &sibling;
	refused += populate_once(0, 12) == -EBUSY;
	current = &caller;
	machine_meanwhile = populate_the_same;
}

static void two_cpus_do_not_share_an_extent(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-4k", 3);
	machine_meanwhile = populate_the_same;
	assert_int_equal(populate(0, 12), 0);
	machine_meanwhile = NULL;
	assert_int_equal(refused, 7);
	assert_int_equal(machine_owned(), 4096);
}

static void what_does_not_fit_is_taken_back(void **unused)
{
	const unsigned long pages[] = { 1000, 1000 };

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-4k", 3);
	machine_preempt_percent = 50;
	assert_int_equal(populate(0, 11), -ENOMEM);
	assert_int_equal(machine_owned(), 0);
	assert_int_equal(dom.numa_policy->placed + dom.numa_policy->fallback, 0);
	for (unsigned long g = 0; g < 2048; g++)
		assert_false(p2m[g].present);
	assert_int_equal(populate(0, 10), 0);

	/* More than the domain may have: no node is even asked. */
	dom.max_pages = machine_owned() + 511;
	assert_int_equal(populate(4096, 9), -ENOMEM);
	assert_int_equal(populate(4096, 8), 0);
}

/* The p2m has no pages left: it maps no more, nor can it divide what it maps. */
static void what_is_one_entry_is_taken_back_as_one(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };

	(void)unused;
	for (unsigned int nth = 1; nth <= 4; nth++) {
		machine_reset(2, pages);
		new_domain("round-2m", 3);
		oom_arm(OOM_TABLES, nth, false);
		machine_p2m_pages = 0;
		assert_int_equal(populate(0, 11), -ENOMEM);
		assert_int_equal(machine_owned(), 0);
		for (unsigned long g = 0; g < 2048; g++)
			assert_false(p2m[g].present);
	}
}

/* Its pages are freed meanwhile, and are somebody else's when populating fails. */
static void a_domain_may_die_meanwhile(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };

	unsigned int died = 0;

	(void)unused;
	test_seed();
	for (unsigned int i = 0; i < 64; i++) {
		machine_reset(2, pages);
		new_domain(i % 2 ? "round-4k" : "round-2m", 3);
		machine_preempt_percent = 50;
		machine_one_by_one = rnd(2);
		machine_dies_in = 1 + (i < 8 ? i : rnd(600));
		populate(i % 4 * 512 + rnd(2), 9 + rnd(3));
		populate(8192 + rnd(2), 9);
		died += dom.is_dying;
		if (dom.is_dying)
			assert_int_equal(machine_owned(), 0);
		assert_true(machine_somebody_is_unharmed());
	}
	assert_in_range(died, 16, 64);
	machine_one_by_one = false;
}

/* What is mapped is never freed. */
static void what_cannot_be_unmapped_stays(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };
	unsigned long stay = 0;

	(void)unused;
	test_seed();
	for (unsigned int i = 0; i < 32; i++) {
		unsigned long mapped = 0;

		machine_reset(2, pages);
		new_domain("round-1g", 3);
		oom_arm(OOM_TABLES, 1, false);
		machine_stays_mapped = true;
		assert_int_equal(populate(0, i % 2 ? 0 : 11), -ENOMEM);
		for (unsigned long g = 0; g < 2048; g++)
			mapped += p2m[g].present;
		assert_int_equal(machine_owned(), mapped);
		stay += mapped;
	}
	assert_true(stay);
}

static void without_a_policy_any_more_the_allocator_decides(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };
	struct xen_domctl_numa_policy_conf none = { .policy = XEN_NUMA_POLICY_NONE };

	(void)unused;
	machine_reset(2, pages);
	new_domain("round-4k", 3);
	machine_preempt_percent = 100;
	assert_int_equal(populate_once(0, 10), -ERESTART);
	assert_int_equal(numa_policy_set(&dom, &none), 0);
	assert_int_equal(populate(0, 10), 0);
	for (unsigned long g = 0; g < 1024; g++)
		assert_int_equal(node_at(g), g < 512 ? g % 2 : 0);
}

static void pages_are_mapped_at_once_where_that_can_be(void **unused)
{
	const unsigned long pages[] = { 8192, 8192 };

	(void)unused;
	for (unsigned int one_by_one = 0; one_by_one < 2; one_by_one++) {
		machine_reset(2, pages);
		new_domain("round-4k", 3);
		machine_one_by_one = one_by_one;
		machine_filled = 0;
		need_flush = false;
		assert_int_equal(populate(0, 11), 0);
		assert_int_equal(machine_filled, one_by_one ? 0 : 4);
		assert_true(need_flush);
		assert_int_equal(populate(2048 + 100, 9), 0);
		assert_int_equal(populate(4096, 8), 0);
		assert_int_equal(machine_filled, one_by_one ? 0 : 4);
		for (unsigned long g = 0; g < 2048; g++)
			assert_int_equal(node_at(g), g % 2);
	}
	machine_one_by_one = false;
}

/* How many of @window pages in a row, at most, are equal modulo @colours in the machine. */
static unsigned int most_of_one_colour(unsigned long gfn, unsigned int window, unsigned int colours)
{
	unsigned int seen[64] = {}, most = 0;

	assert_true(colours <= 64);
	for (unsigned long g = gfn; g < gfn + window; g++) {
		unsigned int now = ++seen[p2m[g].mfn % colours];

		most = max(most, now);
	}
	return most;
}

static void neighbours_are_of_different_colours(void **unused)
{
	const unsigned long pages[] = { 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096 };

	(void)unused;
	for (unsigned int nodes = 2; nodes <= 8; nodes++) {
		bool even = !(nodes & (nodes - 1));

		machine_reset(nodes, pages);
		new_domain("round-4k", (1UL << nodes) - 1);
		assert_int_equal(populate(0, 11), 0);
		for (unsigned int colours = 8; colours <= 64; colours *= 2) {
			unsigned int sum = 0;

			for (unsigned long g = 0; g < 2048; g += colours)
				sum += most_of_one_colour(g, colours, colours);
			/* Pieces of the right size for all pages of a block, or smaller ones for the last of them. */
			assert_in_range(sum, 2048 / colours, (even ? 1 : 2) * 2048 / colours);
		}
	}
}

static const char *const names[] = { "round-4k", "round-2m", "round-1g" };
static const unsigned int grains[] = { 0, 9, 18 };

/* Where a page may be: on its node, or on the best one that had memory. */
static void check_page(unsigned long gfn, unsigned long home, unsigned int grain)
{
	nodeid_t nth[MAX_NUMNODES], right, n, is = node_at(gfn);
	unsigned int nr = 0, small = p2m[gfn].order ? 511 : 0;

	for (n = 0; n < MAX_NUMNODES; n++)
		if (home >> n & 1)
			nth[nr++] = n;
	right = nth[(gfn >> grain) % nr];
	if (is == right)
		return;
	assert_true(avail_node_no_dma_pages(right) <= small);
	for_each_node_mask(n, node_online_map)
		if ((home >> n & 1) != (home >> is & 1) ? home >> n & 1 : test_distance[right][n] < test_distance[right][is])
			assert_true(avail_node_no_dma_pages(n) <= small);
}

static void random_extents(void **unused)
{
	(void)unused;
	test_seed();
	for (unsigned int round = 0; round < 150; round++) {
		unsigned int nodes = 1 + rnd(6), p = rnd(3);
		unsigned long pages[6], affinity = 0, home = 0, owned, counted;

		for (unsigned int n = 0; n < nodes; n++)
			pages[n] = rnd(4) ? rnd(6000) : 0;
		pages[rnd(nodes)] = 4096;
		machine_reset(nodes, pages);
		for (unsigned int n = 0; n < nodes; n++) {
			for (unsigned int m = 0; m < nodes; m++)
				if (n != m)
					test_distance[n][m] = 11 + rnd(40);
			if (!rnd(3))
				machine_fragment(n, rnd(99));
		}
		for (unsigned int n = 0; n < nodes; n++)
			if (pages[n] && (rnd(2) || !affinity))
				affinity |= 1UL << n;
		home = affinity;
		new_domain(names[p], affinity);
		dom.max_pages = rnd(3) ? 1U << 30 : rnd(20000);
		machine_preempt_percent = rnd(2) ? rnd(100) : 0;
		machine_p2m_fail_percent = rnd(8) ? 0 : rnd(3);
		machine_one_by_one = rnd(2);
		machine_reuses = !rnd(4);
		machine_dma_pages = rnd(3) ? 0 : rnd(pages[0] + 1);
		machine_dies_in = rnd(8) ? 0 : 1 + rnd(3000);

		for (unsigned int i = 0; i < 12; i++) {
			unsigned int order = rnd(4) ? rnd(13) : 9;
			unsigned long gfn = i * 5000UL;
			int rc;

			if (rnd(4))
				gfn = (gfn + (1UL << order) - 1) >> order << order;
			if (gfn + (1UL << order) > (i + 1) * 5000UL)
				continue;
			owned = machine_owned();
			counted = dom.numa_policy->placed + dom.numa_policy->fallback;
			machine_p2m_pages = rnd(2) ? -1 : 0;
			rc = populate(gfn, order);
			if (dom.is_dying) {
				assert_int_equal(machine_owned(), 0);
				assert_true(machine_somebody_is_unharmed());
				break;
			}
			assert_int_equal(dom.numa_policy->placed + dom.numa_policy->fallback, counted + (rc ? 0 : 1UL << order));
			if (rc) {
				assert_int_equal(rc, -ENOMEM);
				assert_int_equal(machine_owned(), owned);
			} else
				assert_int_equal(machine_owned(), owned + (1UL << order));
			for (unsigned long g = gfn; g < gfn + (1UL << order); g++) {
				assert_int_equal(p2m[g].present, !rc);
				if (!rc && !machine_p2m_fail_percent)
					check_page(g, home, grains[p]);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grain_decides_what_is_divided),
		cmocka_unit_test(an_unaligned_extent_is_placed_page_by_page),
		cmocka_unit_test(a_full_node_is_replaced_by_a_home_node),
		cmocka_unit_test(full_home_nodes_are_replaced_by_the_nearest),
		cmocka_unit_test(a_superpage_moves_whole_to_the_next_node),
		cmocka_unit_test(a_fragmented_node_is_used_in_pieces),
		cmocka_unit_test(what_devices_need_is_taken_last),
		cmocka_unit_test(what_is_claimed_is_nobody_elses),
		cmocka_unit_test(a_preempted_caller_goes_on_where_it_was),
		cmocka_unit_test(two_cpus_do_not_share_an_extent),
		cmocka_unit_test(what_does_not_fit_is_taken_back),
		cmocka_unit_test(what_is_one_entry_is_taken_back_as_one),
		cmocka_unit_test(a_domain_may_die_meanwhile),
		cmocka_unit_test(what_cannot_be_unmapped_stays),
		cmocka_unit_test(without_a_policy_any_more_the_allocator_decides),
		cmocka_unit_test(pages_are_mapped_at_once_where_that_can_be),
		cmocka_unit_test(neighbours_are_of_different_colours),
		cmocka_unit_test(random_extents),
	};
	int rc = cmocka_run_group_tests_name("populate", tests, NULL, NULL);

	domain_numa_policy_destroy(&dom);
	return rc;
}
