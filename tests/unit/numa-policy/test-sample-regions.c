/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sample regions: what must be true of them after whatever they were told; that all memory is looked at, hot memory more often; and
 * that this follows the guest.  The guest is a list of ranges that are hot, cold or not there.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "sample-regions.h"

#define PICKS 256U		/* a period */

static struct sample_regions rs;
static struct range { uint64_t first, end; bool hot; } guest[8];
static unsigned int ranges;
static unsigned int present;	/* picks of the last periods() that were of memory */

/* They follow each other from 0 to the end, and each can be picked. */
static void check(void)
{
	uint64_t weight = 0;

	assert_in_range(rs.nr, 1, SAMPLE_REGIONS);
	assert_int_equal(rs.r[0].start, 0);
	for (unsigned int i = 0; i < rs.nr; i++) {
		assert_true((i + 1 < rs.nr ? rs.r[i + 1].start : rs.end) > rs.r[i].start);
		assert_true(rs.r[i].until > weight);
		weight = rs.r[i].until;
	}
}

static const struct range *find(uint64_t gfn)
{
	for (unsigned int i = 0; i < ranges; i++)
		if (gfn >= guest[i].first && gfn < guest[i].end)
			return &guest[i];
	return NULL;
}

static unsigned int region_of(uint64_t gfn)
{
	unsigned int i = 0;

	while (i + 1 < rs.nr && rs.r[i + 1].start <= gfn)
		i++;
	return i;
}

/* Periods in which the guest is looked at; returns how many of their picks were of hot memory. */
static unsigned int periods(unsigned int nr, uint64_t end)
{
	unsigned int hot = 0;

	present = 0;
	while (nr--) {
		for (unsigned int i = 0; i < PICKS; i++) {
			unsigned int region;
			uint64_t gfn = sample_regions_pick(&rs, &region);
			const struct range *range = find(gfn);

			assert_true(gfn < rs.end);
			assert_int_equal(region, region_of(gfn));
			if (range)
				sample_regions_marked(&rs, region, range->hot);
			else
				sample_regions_none(&rs, region);
			hot += range && range->hot;
			present += !!range;
		}
		sample_regions_adapt(&rs, end);
		check();
	}
	return hot;
}

static void they_cover_all(void **unused)
{
	static const uint64_t ends[] = { 0, 1, 511, 512, 513, 65536, 1 << 20, (1 << 20) + 1, 1UL << 28, 1UL << 40 };

	(void)unused;
	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++) {
		sample_regions_init(&rs, ends[i], i);
		check();
		assert_int_equal(rs.end, ends[i] ?: 1);
		ranges = 0;
		periods(20, ends[i]);
	}
}

/* A 1 TiB guest with 64 MiB that are hot: these get near half of the samples, however small. */
static void the_hot_one_is_found(void **unused)
{
	(void)unused;
	sample_regions_init(&rs, 1 << 28, test_seed());
	guest[0] = (struct range){ 77 << 20, (77 << 20) + (64 << 8), true };
	guest[1] = (struct range){ 0, 1 << 28, false };
	ranges = 2;
	/* one of 16384 pages: some 64 periods until the first hit */
	periods(1500, 1 << 28);
	assert_in_range(periods(100, 1 << 28), 100 * PICKS / 4, 100 * PICKS);
}

/* 256 MiB that are hot, now here, now there: each time they get near half of the samples, and are divided. */
static void heat_is_followed(void **unused)
{
	(void)unused;
	sample_regions_init(&rs, 1 << 28, test_seed());
	guest[1] = (struct range){ 0, 1 << 28, false };
	ranges = 2;
	for (int move = 0; move < 10; move++) {
		guest[0].first = ((uint64_t)rnd(255) << 20) + rnd(1 << 19);
		guest[0].end = guest[0].first + (256 << 8);
		guest[0].hot = true;
		periods(600, 1 << 28);
		assert_in_range(periods(50, 1 << 28), 50 * PICKS / 4, 50 * PICKS);
		assert_in_range(region_of(guest[0].end) - region_of(guest[0].first), 32, SAMPLE_REGIONS);
	}
}

/* A small guest with a page close below 4 GiB, as PVH guests have: nearly all of the gfns are holes. */
static void holes_cost_little(void **unused)
{
	const unsigned int nr = 80;	/* a hole that was just cut is looked at as if it were none, until the next change of regions */

	(void)unused;
	sample_regions_init(&rs, 1 << 20, test_seed());
	guest[0] = (struct range){ 0, 16 << 10, false };
	guest[1] = (struct range){ (1 << 20) - 8, 1 << 20, false };
	ranges = 2;
	periods(100, 1 << 20);
	periods(nr, 1 << 20);
	/* 1.6 % of the gfns, of which holes take at most 1/16 each */
	assert_in_range(present, nr * PICKS / 6, nr * PICKS);
	/* memory is ballooned in where there was none */
	guest[2] = (struct range){ 512 << 10, 528 << 10, true };
	ranges = 3;
	periods(400, 1 << 20);
	assert_in_range(periods(nr, 1 << 20), nr * PICKS / 4, nr * PICKS);
}

/* What is cold is still looked at, as often as its size says, or so: it is no hole. */
static void cold_is_no_hole(void **unused)
{
	const unsigned int nr = 40;

	(void)unused;
	sample_regions_init(&rs, 1 << 18, test_seed());
	guest[0] = (struct range){ 0, 1 << 10, true };
	guest[1] = (struct range){ 0, 1 << 18, false };
	ranges = 2;
	periods(400, 1 << 18);
	assert_in_range(nr * PICKS - periods(nr, 1 << 18), nr * PICKS * 4 / 10, nr * PICKS * 65 / 100);
}

/* Two that are equally hot get equally many samples, however many they had before: what is told of nodes goes by them. */
static void what_is_as_hot_gets_as_much(void **unused)
{
	unsigned int picks[2] = { 0, 0 };

	(void)unused;
	sample_regions_init(&rs, 1 << 18, test_seed());
	guest[0] = (struct range){ 32 << 10, 33 << 10, true };
	guest[1] = (struct range){ 0, 1 << 18, false };
	ranges = 2;
	periods(400, 1 << 18);
	guest[2] = guest[1];
	guest[1] = (struct range){ 200 << 10, 201 << 10, true };
	ranges = 3;
	periods(400, 1 << 18);
	for (int i = 0; i < 100; i++) {
		for (unsigned int n = 0; n < PICKS; n++) {
			unsigned int region;
			uint64_t gfn = sample_regions_pick(&rs, &region);

			for (int j = 0; j < 2; j++)
				picks[j] += gfn >= guest[j].first && gfn < guest[j].end;
		}
		periods(1, 1 << 18);
	}
	assert_in_range(picks[0], picks[1] * 2 / 3, picks[1] * 3 / 2);
}

/* Periods in which each region is looked at as often as any other. */
static void even_periods(unsigned int nr)
{
	while (nr--) {
		for (unsigned int i = 0; i < rs.nr; i++)
			for (int n = 0; n < 8; n++)
				sample_regions_marked(&rs, i, find(rs.r[i].start)->hot);
		sample_regions_adapt(&rs, rs.end);
		check();
	}
}

/* What heat has divided is joined when it is gone, or no room is left for what gets hot next. */
static void what_is_alike_is_joined(void **unused)
{
	unsigned int before;

	(void)unused;
	sample_regions_init(&rs, 1 << 22, test_seed());
	before = rs.nr;
	guest[0] = (struct range){ 512 << 10, 528 << 10, true };
	guest[1] = (struct range){ 0, 1 << 22, false };
	ranges = 2;
	even_periods(200);
	assert_in_range(rs.nr, before + 8, SAMPLE_REGIONS);
	guest[0].hot = false;
	even_periods(200);
	assert_in_range(rs.nr, 1, before);
}

static void they_grow_with_the_guest(void **unused)
{
	const unsigned int nr = 40;

	(void)unused;
	sample_regions_init(&rs, 1000, test_seed());
	guest[0] = (struct range){ 0, 1 << 20, false };
	guest[1] = (struct range){ 900 << 10, 901 << 10, true };
	ranges = 1;
	periods(10, 1000);
	assert_int_equal(rs.end, 1000);
	guest[0] = guest[1];
	guest[1] = (struct range){ 0, 1 << 20, false };
	ranges = 2;
	periods(600, 1 << 20);
	assert_int_equal(rs.end, 1 << 20);
	assert_in_range(periods(nr, 1 << 20), nr * PICKS / 4, nr * PICKS);
}

static void whatever_they_are_told(void **unused)
{
	(void)unused;
	test_seed();
	for (int round = 0; round < 100; round++) {
		uint64_t end = 1 + ((uint64_t)rnd(UINT32_MAX) << 8 >> rnd(40));

		sample_regions_init(&rs, end, rnd(UINT32_MAX));
		for (int period = 0; period < 60; period++) {
			for (unsigned int n = rnd(rnd(4) ? 300 : 5000); n; n--) {
				unsigned int region = rnd(rs.nr);

				if (rnd(3))
					sample_regions_marked(&rs, rnd(3) ? region / 8 : region, rnd(4));
				else
					sample_regions_none(&rs, region);
			}
			if (!rnd(10))
				end += rnd(1 << 20);
			sample_regions_adapt(&rs, end);
			check();
			assert_int_equal(rs.end, end);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_cover_all),
		cmocka_unit_test(the_hot_one_is_found),
		cmocka_unit_test(heat_is_followed),
		cmocka_unit_test(holes_cost_little),
		cmocka_unit_test(cold_is_no_hole),
		cmocka_unit_test(what_is_as_hot_gets_as_much),
		cmocka_unit_test(what_is_alike_is_joined),
		cmocka_unit_test(they_grow_with_the_guest),
		cmocka_unit_test(whatever_they_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
