/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts by themselves: the table of pages, the measures, the shares of the host's budget. */
#include <stdlib.h>
#include <string.h>

#include "decide/pages.h"
#include "world.h"

#define KEYS 64
#define ROOM 24

/* The model: when each key was touched last, by a counter. */
static void table_forgets_the_oldest(void **unused)
{
	uint64_t age[KEYS] = { 0 }, clock = 0;
	unsigned int period_of[KEYS] = { 0 }, round, i;
	struct pages t;

	(void)unused;
	test_seed();
	assert_true(pages_init(&t, ROOM));
	for (round = 1; round < 3000; round++) {
		unsigned int touches = rnd(40);

		pages_next_period(&t, round);
		while (touches--) {
			unsigned int key = rnd(rnd(2) ? KEYS : KEYS / 4), there = 0, oldest = KEYS;
			uint8_t order = key % 2 ? ORDER_2M : ORDER_4K;
			struct page *p = pages_touch(&t, key / 2, order);

			for (i = 0; i < KEYS; i++)
				if (age[i]) {
					there++;
					if (oldest == KEYS || age[i] < age[oldest])
						oldest = i;
				}
			if (!age[key] && there == ROOM) {
				if (period_of[oldest] == round) {
					assert_null(p);
					continue;
				}
				age[oldest] = 0;
			}
			assert_non_null(p);
			assert_int_equal(p->gfn, key / 2);
			assert_int_equal(p->order, order);
			if (!age[key])
				assert_int_equal(p->nr_window, 0);
			page_note(&t, p, key % 4);
			page_set_range(&t, p, order == ORDER_2M ? RANGE_KEPT : RANGE_WHOLE);
			age[key] = ++clock;
			period_of[key] = round;
		}
		for (i = 0; i < KEYS; i++)
			assert_int_equal(!!age[i], !!pages_find(&t, i / 2, i % 2 ? ORDER_2M : ORDER_4K));
		for (i = 0, touches = 0; i < KEYS; i++)
			touches += i % 2 && age[i];
		assert_int_equal(t.nr_ranges, touches);
		for (i = 0, touches = 0; i < KEYS; i++)
			touches += age[i] && period_of[i] == round;
		assert_int_equal(t.nr_touched, touches);
		assert_true(t.nr <= ROOM);
	}
	pages_free(&t);
}

/* Fewer places: those that were seen last stay, and 2 MiB on trial; of the others the moves. More: all stay. */
static void table_is_resized(void **unused)
{
	struct pages t;
	struct page *p;
	unsigned int i;

	(void)unused;
	assert_true(pages_init(&t, 400));
	pages_next_period(&t, 1);
	p = pages_touch(&t, 1 << ORDER_2M, ORDER_2M);
	page_set_range(&t, p, RANGE_TRIED);
	for (i = 0; i < 300; i++) {
		p = pages_touch(&t, 10000 + i, ORDER_4K);
		page_note(&t, p, i % 4);
		p->moved_at = 1000 + i;
		p->freezes = i % 200;
	}
	assert_true(pages_resize(&t, 100));
	pages_next_period(&t, 2);
	assert_true(t.nr == 100 && t.max == 100 && t.nr_ranges == 1);
	p = pages_find(&t, 1 << ORDER_2M, ORDER_2M);
	assert_true(p && p->range == RANGE_TRIED);
	for (i = 0; i < 300; i++) {
		p = pages_find(&t, 10000 + i, ORDER_4K);
		assert_int_equal(!!p, i >= 201);
		if (p)
			assert_true(page_view(p).top == i % 4 && p->moved_at == 1000 + i);
	}
	/* Entered again, in a table with more room, it is known how often each was frozen. */
	assert_true(pages_resize(&t, 1000));
	pages_next_period(&t, 3);
	for (i = 0, t.now = 0; i < 300; i++) {
		p = pages_touch(&t, 10000 + i, ORDER_4K);
		assert_non_null(p);
		t.now += p->freezes == i % 200;
	}
	/* A set that is full forgets. */
	assert_true(t.now > 250);
	assert_true(t.nr == 301 && pages_bytes(1000) > 2 * pages_bytes(400));
	pages_free(&t);
}

static void window_remembers_the_last_samples(void **unused)
{
	struct pages t = { .now = 1000 * MS };
	struct page p = { 0 };
	struct window_view view;
	unsigned int i;

	(void)unused;
	for (i = 0; i < 5; i++)
		page_note(&t, &p, 3);
	view = page_view(&p);
	assert_true(view.one_node && view.top == 3 && view.count == 5 && view.nodes == 1);
	/* That other nodes use it now and then is no change of use. */
	t.now += 50 * MS;
	page_note(&t, &p, 2);
	page_note(&t, &p, 3);
	assert_true(page_lasted(&t, &p, 3) == 50 && !page_lasted(&t, &p, 2));
	while (page_view(&p).nodes > 1)
		page_note(&t, &p, 3);
	assert_int_equal(page_lasted(&t, &p, 3), 50);
	/* A change of phase: the old node is forgotten after a window. */
	for (i = 0; i < WINDOW - 1; i++)
		page_note(&t, &p, 1);
	view = page_view(&p);
	assert_true(!view.one_node && view.nodes == 2 && view.top == 1 && view.top_count == WINDOW - 1);
	p.waits = true;
	page_note(&t, &p, 1);
	assert_true(page_view(&p).one_node);
	t.now += 20 * MS;
	assert_true(page_lasted(&t, &p, 1) == 20 && !page_lasted(&t, &p, 3) && p.fickle && !p.waits);
	/* To and fro: by chance it may look like one node's. */
	for (i = 0; i < 4; i++)
		page_note(&t, &p, i % 2);
	for (i = 0; i < UNMIXED_STREAK - 1; i++) {
		page_note(&t, &p, 2);
		assert_false(page_view(&p).one_node);
	}
	page_note(&t, &p, 2);
	assert_true(page_view(&p).one_node);
}

/* Pages that have just been moved, are frozen or on trial are not forgotten for new ones; when that is over, they are. */
static void kept_pages_stay(void **unused)
{
	struct pages t;
	uint64_t gfn, new = ROOM;
	unsigned int kept = ROOM / 4, i;

	(void)unused;
	assert_true(pages_init(&t, ROOM));
	pages_next_period(&t, 1);
	for (gfn = 0; gfn < ROOM; gfn++)
		pages_touch(&t, gfn, ORDER_2M)->paused_until = gfn < kept ? 10 : 0;
	page_set_range(&t, pages_find(&t, kept, ORDER_2M), RANGE_TRIED);
	for (i = 2; i < 10; i++) {
		pages_next_period(&t, i);
		/* All others go at last, and then there is no room. */
		while (pages_touch(&t, new, ORDER_2M))
			new++;
		for (gfn = 0; gfn <= kept; gfn++)
			assert_non_null(pages_find(&t, gfn, ORDER_2M));
		assert_true(new - ROOM >= ROOM - kept - 1 || i < 4);
	}
	page_set_range(&t, pages_find(&t, kept, ORDER_2M), RANGE_WHOLE);
	for (; i < 13; i++) {
		pages_next_period(&t, i);
		while (pages_touch(&t, new, ORDER_2M))
			new++;
	}
	for (gfn = 0; gfn <= kept; gfn++)
		assert_null(pages_find(&t, gfn, ORDER_2M));
	pages_free(&t);
}

/* What is known of a page's moves outlives it in the table, whatever else was moved. */
static void moves_are_known_for_longer(void **unused)
{
	struct pages t;
	struct page *p;
	uint64_t i, gfn, known = 0;

	(void)unused;
	assert_true(pages_init(&t, ROOM));
	for (i = 0; i < 2 * ROOM; i++) {
		pages_next_period(&t, 10 + i);
		p = pages_touch(&t, i / 2 * 512, i % 2 ? ORDER_2M : ORDER_4K);
		assert_int_equal(p->moved_at, 0);
		if (i >= ROOM)
			continue;
		p->moved_at = 10 + i;
		p->from = i % 8;
		p->moves = 1 + i % 2;
		p->freezes = i % 3;
		p->mixed = i % 5 == 0;
	}
	pages_next_period(&t, 10 + i);
	for (i = 0; i < ROOM; i++) {
		gfn = i / 2 * 512;
		assert_null(pages_find(&t, gfn, i % 2 ? ORDER_2M : ORDER_4K));
		/* It is the page of that order whose moves they are. */
		p = pages_touch(&t, gfn, i % 2 ? ORDER_2M : ORDER_4K);
		if (p->moved_at != 10 + i) {
			assert_true(!p->moved_at && !p->moves && !p->freezes && !p->mixed);
			continue;
		}
		known++;
		assert_true(p->from == i % 8 && p->moves == 1 + i % 2 && p->freezes == i % 3 && p->mixed == (i % 5 == 0));
	}
	assert_true(known >= ROOM * 9 / 10);
	pages_free(&t);
}

static void hottest_pages_come_first(void **unused)
{
	struct pages t;
	size_t i;

	(void)unused;
	test_seed();
	assert_true(pages_init(&t, 100));
	pages_next_period(&t, 0);
	for (i = 0; i < 500; i++)
		pages_touch(&t, rnd(100), ORDER_4K)->hits++;
	pages_sort(&t);
	for (i = 1; i < t.nr_touched; i++)
		assert_true(t.touched[i - 1]->hits > t.touched[i]->hits ||
			    (t.touched[i - 1]->hits == t.touched[i]->hits && t.touched[i - 1]->gfn < t.touched[i]->gfn));
	pages_free(&t);
}

static struct measure measured(const uint64_t *matrix, unsigned int nr_nodes, uint64_t home)
{
	struct nodes nodes = nodes_of(NULL, nr_nodes, home);

	return measure(matrix, &nodes);
}

static void measures_are_the_papers(void **unused)
{
	/* Nodes 0 and 1 access node 0's memory only. */
	const uint64_t master[4] = { 500000, 0, 500000, 0 };
	const uint64_t even[9] = { 300, 0, 0, 0, 300, 0, 0, 0, 300 };
	const uint64_t foreign[9] = { 300000, 0, 0, 0, 300000, 0, 0, 0, 900000 };
	const uint64_t nothing[4] = { 0 };
	/* All by node 0, in equal parts to both. */
	const uint64_t alone[4] = { 500000, 500000, 0, 0 };
	/* 1:3, of which 1/4 is remote: mean 2, deviation 1. */
	const uint64_t uneven[4] = { 250000, 250000, 0, 500000 };
	struct measure m;

	(void)unused;
	m = measured(master, 2, 3);
	assert_int_equal(m.local, 500);
	assert_int_equal(m.imbalance, 1000);
	assert_int_equal(m.own_imbalance, 0);
	/* Half of the accesses are twice as far; and as many would be. */
	assert_true(m.detour == 500 && m.spread == 500);
	assert_int_equal(m.pair, 500);
	assert_true(m.pair_from == 0 && m.pair_to == 1);
	m = measured(even, 3, 7);
	assert_int_equal(m.local, 1000);
	assert_int_equal(m.imbalance, 0);
	assert_true(!m.detour && m.spread == 667);
	assert_int_equal(m.pair, 0);
	m = measured(nothing, 2, 3);
	assert_true(!m.samples && !m.local && !m.imbalance);
	m = measured(alone, 2, 3);
	assert_true(!m.imbalance && m.own_imbalance == 1000);
	m = measured(uneven, 2, 3);
	assert_int_equal(m.local, 750);
	assert_int_equal(m.imbalance, 500);
	/* Other nodes than the home nodes are in the ratio, and not in the imbalance. */
	m = measured(foreign, 3, 3);
	assert_true(!m.imbalance);
	/* Those of node 2, to its own memory, are as good as ones to node 0. */
	assert_int_equal(m.own_imbalance, 600);
}

/* 64 samples on 8 nodes: equal loads look like 35 % imbalance, and must not be taken for it. */
static void chance_is_no_imbalance(void **unused)
{
	unsigned int round, sum = 0, i;

	(void)unused;
	test_seed();
	for (round = 0; round < 1000; round++) {
		uint64_t matrix[64] = { 0 };

		for (i = 0; i < 64; i++)
			matrix[rnd(64)]++;
		sum += measured(matrix, 8, 0xff).imbalance;
	}
	assert_true(sum / 1000 < 150);
}

static void shares_add_up(void **unused)
{
	struct config c = config_defaults();
	struct host h = { .nr_nodes = 1 };
	const uint64_t free[1] = { 300 * MIB };
	struct budget b;

	(void)unused;
	c.host_moves = 900;
	c.vm_moves = 500;
	host_next_period(&h, &c, free, -1);
	assert_int_equal(h.room[0], (300 - c.node_reserve_mb) * MIB);
	/* Nobody was hungry: the first takes what it may, the second what is left. */
	b = host_share(&h, &c, false);
	assert_int_equal(b.moves, 500);
	assert_int_equal(b.bytes, c.vm_mb_per_s * MIB);
	host_took(&h, b, false, true);
	assert_int_equal(host_share(&h, &c, false).moves, 400);
	host_took(&h, host_share(&h, &c, false), false, true);
	assert_int_equal(host_share(&h, &c, false).moves, 0);
	host_took(&h, host_share(&h, &c, false), false, true);
	/* Now three are: a third each, and a fourth one a quarter. */
	host_next_period(&h, &c, free, -1);
	assert_int_equal(host_share(&h, &c, true).moves, 300);
	assert_int_equal(host_share(&h, &c, false).moves, 225);
	host_took(&h, (struct budget){ 0, 0 }, true, false);
	/* What one leaves is for the others. */
	assert_int_equal(host_share(&h, &c, true).moves, 450);
	host_took(&h, host_share(&h, &c, true), true, true);
	assert_int_equal(host_share(&h, &c, true).moves, 450);
}

static void all_are_first_in_turn(void **unused)
{
	unsigned int period, i;

	(void)unused;
	for (period = 0; period < 10; period++) {
		uint64_t seen = 0;

		for (i = 0; i < 5; i++)
			seen |= 1ULL << host_turn(period, i, 5);
		assert_int_equal(seen, 0x1f);
		assert_int_equal(host_turn(period, 0, 5), period % 5);
	}
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_forgets_the_oldest),
		cmocka_unit_test(table_is_resized),
		cmocka_unit_test(window_remembers_the_last_samples),
		cmocka_unit_test(kept_pages_stay),
		cmocka_unit_test(moves_are_known_for_longer),
		cmocka_unit_test(hottest_pages_come_first),
		cmocka_unit_test(measures_are_the_papers),
		cmocka_unit_test(chance_is_no_imbalance),
		cmocka_unit_test(shares_add_up),
		cmocka_unit_test(all_are_first_in_turn),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
