/* SPDX-License-Identifier: GPL-2.0-only */
/* Caches small enough to follow by hand. */
#include "test.h"

#include "cache.h"

static struct cache *tiny(unsigned int sets, unsigned int ways)
{
	struct geometry shape = { (uint64_t)sets * ways * LINE_BYTES, ways, sets };

	return cache_new(&shape);
}

static bool has(struct cache *cache, uint32_t line)
{
	cached found = cache_take(cache, line);

	if (found != NO_LINE)
		cache_put(cache, found);
	return found != NO_LINE;
}

static void oldest_goes_first(void **state)
{
	g_autofree struct cache *cache = tiny(1, 3);

	(void)state;
	assert_int_equal(cache_put(cache, 10 << 1), NO_LINE);
	assert_int_equal(cache_put(cache, 11 << 1), NO_LINE);
	assert_int_equal(cache_put(cache, 12 << 1), NO_LINE);
	assert_true(has(cache, 10));			/* 11 is the oldest now */
	assert_int_equal(cache_put(cache, 13 << 1), 11 << 1);
	assert_int_equal(cache_put(cache, 14 << 1), 12 << 1);
	assert_true(has(cache, 10));
	assert_false(has(cache, 11));
}

static void taken_is_gone_and_leaves_room(void **state)
{
	g_autofree struct cache *cache = tiny(1, 2);

	(void)state;
	cache_put(cache, 1 << 1 | DIRTY);
	cache_put(cache, 2 << 1);
	assert_int_equal(cache_take(cache, 1), 1 << 1 | DIRTY);
	assert_int_equal(cache_take(cache, 1), NO_LINE);
	assert_int_equal(cache_put(cache, 3 << 1), NO_LINE);
	assert_true(has(cache, 2) && has(cache, 3));
	assert_int_equal(cache_take(cache, 3), 3 << 1);		/* the most recent, from before others */
	assert_false(has(cache, 3));
	assert_true(has(cache, 2));
}

static void sets_are_apart_and_need_no_power_of_two(void **state)
{
	g_autofree struct cache *cache = tiny(3, 1);

	(void)state;
	for (uint32_t line = 0; line < 3; line++)
		assert_int_equal(cache_put(cache, line << 1), NO_LINE);
	assert_int_equal(cache_put(cache, 4 << 1), 1 << 1);
	assert_int_equal(cache_put(cache, 302 << 1), 2 << 1);	/* 302 % 3 == 2 */
	assert_true(has(cache, 0) && has(cache, 4) && has(cache, 302));
}

static void dirty_stays_with_its_line(void **state)
{
	g_autofree struct cache *cache = tiny(1, 2);

	(void)state;
	cache_put(cache, 5 << 1);
	cache_put(cache, 6 << 1);
	assert_true(cache_dirty(cache, 5));
	assert_false(cache_dirty(cache, 7));
	assert_int_equal(cache_put(cache, 8 << 1), 6 << 1);
	assert_int_equal(cache_put(cache, 9 << 1), 5 << 1 | DIRTY);
}

static void the_last_line_of_128_gib_is_a_line(void **state)
{
	g_autofree struct cache *cache = tiny(1, 1);
	uint32_t last = ((UINT64_C(128) << 30) - 1) >> LINE_SHIFT;

	(void)state;
	assert_int_equal(cache_take(cache, last), NO_LINE);
	assert_int_equal(cache_put(cache, last << 1), NO_LINE);
	assert_int_equal(cache_take(cache, last), last << 1);
}

static void filter_of_two_ways(void **state)
{
	struct geometry shape = { 2 * 2 * LINE_BYTES, 2, 2 };
	g_autofree struct filter *filter = filter_new(&shape);

	(void)state;
	assert_int_equal(filter_use(filter, 0x1000, false), MISS);
	assert_int_equal(filter_use(filter, 0x103f, false), HIT);	/* the same line */
	assert_int_equal(filter_use(filter, 0x1040, false), MISS);	/* the other set */
	assert_int_equal(filter_use(filter, 0x1080, false), MISS);	/* the first set's other way */
	assert_int_equal(filter_use(filter, 0x1000, false), HIT);
	assert_int_equal(filter_use(filter, 0x1100, false), MISS);	/* drives 0x1080 out */
	assert_int_equal(filter_use(filter, 0x1000, false), HIT);
	assert_int_equal(filter_use(filter, 0x1080, false), MISS);
	assert_int_equal(filter_use(filter, 0x1040, false), HIT);
}

static void first_store_to_a_line_is_told(void **state)
{
	struct geometry shape = { 2 * 2 * LINE_BYTES, 2, 2 };
	g_autofree struct filter *filter = filter_new(&shape);

	(void)state;
	assert_int_equal(filter_use(filter, 0x1000, false), MISS);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT_CLEAN);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT);
	assert_int_equal(filter_use(filter, 0x2000, true), MISS);
	assert_int_equal(filter_use(filter, 0x2000, true), HIT);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT);	/* dirty in the second way, too */
	assert_int_equal(filter_use(filter, 0x1000, false), HIT);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT);
	assert_int_equal(filter_use(filter, 0x3000, false), MISS);	/* drives 0x2000 out */
	assert_int_equal(filter_use(filter, 0x2000, false), MISS);
	assert_int_equal(filter_use(filter, 0x3000, false), HIT);
	assert_int_equal(filter_use(filter, 0x2000, true), HIT_CLEAN);	/* fetched anew, it was clean */
}

static void dropped_is_gone_and_leaves_room(void **state)
{
	struct geometry shape = { 3 * LINE_BYTES, 3, 1 };
	g_autofree struct filter *filter = filter_new(&shape);

	(void)state;
	for (uint64_t address = 0x1000; address <= 0x3000; address += 0x1000)
		filter_use(filter, address, true);
	filter_drop(filter, 0x5000);			/* is not there */
	filter_drop(filter, 0x203f);
	assert_int_equal(filter_use(filter, 0x4000, false), MISS);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT);
	assert_int_equal(filter_use(filter, 0x3000, true), HIT);
	assert_int_equal(filter_use(filter, 0x4000, false), HIT);
	assert_int_equal(filter_use(filter, 0x2000, true), MISS);
}

/* Line numbers of the machine that end alike are the same to a filter; within a page they are those of the address. */
static void others_take_lines_by_their_machine_address(void **state)
{
	struct geometry shape = { 3 * LINE_BYTES, 3, 1 };
	g_autofree struct filter *filter = filter_new(&shape);

	(void)state;
	for (uint64_t address = 0x1000; address <= 0x3000; address += 0x1000) {
		filter_use(filter, address, true);
		filter_tag(filter, address, address >> 6 | 0x70000);
	}
	filter_lose(filter, 0x3000 >> 6);		/* the virtual one: is nobody's */
	filter_clean(filter, 0x2000 >> 6 | 0x70000);
	assert_int_equal(filter_use(filter, 0x3000, true), HIT);
	assert_int_equal(filter_use(filter, 0x2000, true), HIT_CLEAN);
	assert_int_equal(filter_use(filter, 0x2000, true), HIT);
	/* lost from the front: the hole is filled first, and drives nothing out */
	filter_lose(filter, 0x2000 >> 6 | 0x70000);
	assert_int_equal(filter_use(filter, 0x4000, false), MISS);
	assert_int_equal(filter_use(filter, 0x1000, true), HIT);
	assert_int_equal(filter_use(filter, 0x3000, true), HIT);
	/* and from the middle of 3, 1, 4: what is behind it is there */
	filter_lose(filter, 0x1000 >> 6 | 0x70000);
	assert_int_equal(filter_use(filter, 0x4000, false), HIT);
	assert_int_equal(filter_use(filter, 0x5000, false), MISS);
	assert_int_equal(filter_use(filter, 0x3000, true), HIT);
	assert_int_equal(filter_use(filter, 0x4000, false), HIT);
}

/* A line may be in any set that its page leaves open. */
static void a_large_filter_is_searched_by_page(void **state)
{
	struct geometry shape = { 256 * LINE_BYTES, 1, 256 };
	g_autofree struct filter *filter = filter_new(&shape);

	(void)state;
	filter_use(filter, 0x3040, true);		/* set 193 */
	filter_tag(filter, 0x3040, 0x8001);
	filter_lose(filter, 0x8002);
	assert_int_equal(filter_use(filter, 0x3040, true), HIT);
	filter_lose(filter, 0x8001);
	assert_int_equal(filter_use(filter, 0x3040, true), MISS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_goes_first),
		cmocka_unit_test(taken_is_gone_and_leaves_room),
		cmocka_unit_test(sets_are_apart_and_need_no_power_of_two),
		cmocka_unit_test(dirty_stays_with_its_line),
		cmocka_unit_test(the_last_line_of_128_gib_is_a_line),
		cmocka_unit_test(filter_of_two_ways),
		cmocka_unit_test(first_store_to_a_line_is_told),
		cmocka_unit_test(dropped_is_gone_and_leaves_room),
		cmocka_unit_test(others_take_lines_by_their_machine_address),
		cmocka_unit_test(a_large_filter_is_searched_by_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
