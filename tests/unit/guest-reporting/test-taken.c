/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU takes and keeps when the host places a page where it is touched first: the helpers of mm/page_alloc.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linux.h"

#define CONFIG_NUMA_BALANCING
#define LAST_CPUPID_NOT_IN_PAGE_FLAGS
#define LAST_CPUPID_MASK 0xffff
#define raw_smp_processor_id() ((int)this_cpu)
static unsigned int nr_online_nodes;
struct folio { struct page page; };
struct per_cpu_pages { int count, others; };
static int cpu_pid_to_cpupid(int cpu, int pid) { return (cpu & 0xff) << 8 | (pid & 0xff); }
static int folio_last_cpupid(struct folio *folio) { return folio->page._last_cpupid; }
static int cpupid_to_cpu(int cpupid) { return cpupid >> 8 & 0xff; }

#include "page_taken.h"

struct static_key_false page_reporting_enabled, page_reporting_first_touch;
unsigned int page_reporting_order;
void __page_reporting_notify(void) { }

#define BATCH	63
#define HIGH	3000
#define UNSEEN	0xffff		/* what balancing has for a page that was not accessed */

static int setup(void **unused)
{
	page_reporting_first_touch.on = true;
	nr_online_nodes = 1;
	this_cpu = 0;
	return 0;
}

/* As rmqueue_bulk(): a block is divided when the pieces before it are used up. */
static unsigned long bulk(struct zone *zone, unsigned int order, unsigned long pieces, unsigned long count)
{
	unsigned long i;

	page_reporting_bulk_begin(zone);
	for (i = 0; i < count; i++) {
		if (!pieces) {
			pieces = 1UL << (pageblock_order - order);
			page_reporting_divided(zone, order, pageblock_order + rnd(2));
		}
		pieces--;
		count = page_reporting_bulk(zone, order, i + 1, count);
	}
	return i;
}

static void all_of_a_divided_block_is_taken(void **unused)
{
	for (unsigned int i = 0; i < 10000; i++) {
		unsigned int order = rnd(4);
		unsigned long block = 1UL << (pageblock_order - order), pieces = rnd(3 * block), count = 2 + rnd(40);
		struct zone zone = { .divided = rnd(2) };
		unsigned long taken = bulk(&zone, order, pieces, count);

		if (count <= pieces)
			assert_int_equal(taken, count);
		else
			assert_int_equal((taken - pieces) % block, 0);
		assert_in_range(taken, count, count + block - 1);
	}
}

static void but_not(void **unused)
{
	struct zone zone = { .divided = false };

	/* into a list that is to stay empty */
	assert_int_equal(bulk(&zone, 0, 0, 1), 1);
	/* when memory is short */
	zone.flags = 1 << ZONE_BELOW_HIGH;
	assert_int_equal(bulk(&zone, 0, 0, 3), 3);
	zone.flags = 0;
	/* a block that is taken whole, or is smaller */
	page_reporting_bulk_begin(&zone);
	page_reporting_divided(&zone, pageblock_order, pageblock_order + 1);
	page_reporting_divided(&zone, 0, pageblock_order - 1);
	assert_int_equal(page_reporting_bulk(&zone, 0, 1, 7), 7);
	/* for a host that does not place memory so */
	page_reporting_first_touch.on = false;
	assert_int_equal(bulk(&zone, 0, 0, 3), 3);
}

#define NR 5000
static struct page all[NR];

static void balancing_has_its_field(void **unused)
{
	struct per_cpu_pages pcp = { 0 };
	struct page page = { ._last_cpupid = UNSEEN };

	for (unsigned int i = 0; i < 2; i++) {
		page_reporting_first_touch.on = i;
		nr_online_nodes = 1 + i;
		assert_false(page_taken_noted());
		page_taken_note(&page);
		page_taken_from_list(&pcp, &page, 0);
		pcp.count = 1;
		assert_int_equal(page_taken_high(&pcp, &page, 0, HIGH, BATCH), HIGH);
		assert_int_equal(pcp.others, 0);
		assert_int_equal(page._last_cpupid, UNSEEN);
	}
}

static void free_into(struct per_cpu_pages *pcp, struct page *page, int *high)
{
	pcp->count++;
	*high = page_taken_high(pcp, page, 0, HIGH, BATCH);
}

static void few_of_others_are_kept(void **unused)
{
	struct per_cpu_pages pcp = { 0 };
	int high;

	for (unsigned int i = 0; i < NR; i++) {
		this_cpu = i % 2;
		page_taken_note(&all[i]);
	}
	this_cpu = 0;
	/* of a CPU's own it keeps as many as it likes */
	for (unsigned int i = 0; i < NR; i += 2) {
		free_into(&pcp, &all[i], &high);
		assert_int_equal(high, HIGH);
	}
	assert_int_equal(pcp.others, 0);
	for (unsigned int i = 1; i < NR; i += 2) {
		free_into(&pcp, &all[i], &high);
		assert_int_equal(high, i / 2 + 1 > 4 * BATCH ? 4 * BATCH : HIGH);
	}
	assert_int_equal(pcp.others, NR / 2);
	/* when these have left the list, all is as before */
	for (unsigned int i = 0; i < NR; i++) {
		pcp.count--;
		page_taken_from_list(&pcp, &all[i], 0);
	}
	assert_int_equal(pcp.others, 0);
}

static void what_was_not_counted_does_no_harm(void **unused)
{
	struct per_cpu_pages pcp = { .count = 10, .others = 1 };
	struct page mine, other;
	int high;

	page_taken_note(&mine);
	this_cpu = 1;
	page_taken_note(&other);
	this_cpu = 0;
	/* they came into the list before they were counted */
	pcp.count -= 8;
	page_taken_from_list(&pcp, &other, 3);
	assert_int_equal(pcp.others, 0);
	/* another CPU has emptied it */
	pcp.others = NR;
	pcp.count = 0;
	free_into(&pcp, &mine, &high);
	assert_int_equal(pcp.others, 1);
	assert_int_equal(high, HIGH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_of_a_divided_block_is_taken, setup),
		cmocka_unit_test_setup(but_not, setup),
		cmocka_unit_test_setup(balancing_has_its_field, setup),
		cmocka_unit_test_setup(few_of_others_are_kept, setup),
		cmocka_unit_test_setup(what_was_not_counted_does_no_harm, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
