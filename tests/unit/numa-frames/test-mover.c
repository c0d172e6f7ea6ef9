/* The mover: what becomes of the frames that a domain had before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>
#include "p2m-numa-batch.h"

static struct p2m_numa_batch *b;
static struct xen_numa_move moves[P2M_NUMA_BATCH];

static int setup(void **unused)
{
	machine_reset();
	b = p2m_numa_batch_new(&dom);
	return !b;
}

static int teardown(void **unused)
{
	machine_check();
	p2m_numa_batch_free(b);
	return 0;
}

static struct page_info *map(unsigned long gfn, nodeid_t node)
{
	struct page_info *pg = machine_give(node, 0);

	page_list_add_tail(pg, &dom.page_list);
	p2m_entries[gfn] = (struct entry){ .present = true, .raw = mfn_to_maddr(page_to_mfn(pg)) | ENTRY_WRITE };
	return pg;
}

static struct page_info *at(unsigned long gfn)
{
	return mfn_to_page(_mfn(p2m_entries[gfn].raw >> PAGE_SHIFT));
}

static void move(unsigned long nr, nodeid_t node)
{
	for (unsigned long i = 0; i < nr; i++)
		moves[i] = (struct xen_numa_move){ .gfn = i, .node = node };
	assert_int_equal(p2m_numa_move(b, moves, nr), 0);
	machine_check();
}

static void old_frames_are_flushed_for_the_next(void **unused)
{
	for (unsigned long gfn = 0; gfn < 300; gfn++)
		map(gfn, 1);
	/* It has its own content before it is the domain's. */
	machine_leave_dirty(2);
	move(300, 2);
	for (unsigned long gfn = 0; gfn < 300; gfn++) {
		assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_DONE);
		assert_int_equal(page_to_nid(at(gfn)), 2);
		assert_int_equal(at(gfn)->content, gfn + 1);
		assert_true(p2m_entries[gfn].raw & ENTRY_WRITE);
	}
	assert_int_equal(machine_free(1), NODE_PAGES);
	assert_int_equal(machine_owned(&dom), 300);
}

static void what_is_in_use_stays(void **unused)
{
	struct page_info *used = map(0, 1), *uncached = map(1, 1), *typed = map(2, 1);

	used->count_info++;
	uncached->u.inuse.type_info = PGT_writable_page | PGT_non_coherent;
	uncached->uncached = true;
	typed->u.inuse.type_info = PGT_writable_page;
	move(3, 2);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_BUSY);
	assert_int_equal(moves[1].result, XEN_NUMA_MOVE_UNMOVABLE);
	assert_int_equal(moves[2].result, XEN_NUMA_MOVE_DONE);
	assert_ptr_equal(at(0), used);
	assert_ptr_equal(at(1), uncached);
	assert_true(uncached->count_info == (PGC_allocated | 1));
	assert_int_equal(machine_owned(&dom), 3);
}

static void what_devices_need_is_left_alone(void **unused)
{
	unsigned int moved = 0;

	for (unsigned long gfn = 0; gfn < 300; gfn++)
		map(gfn, 1);
	machine_fill(0, DMA_PAGES + 100);
	move(300, 0);
	for (unsigned long gfn = 0; gfn < 300; gfn++) {
		assert_int_equal(moves[gfn].result, page_to_nid(at(gfn)) ? XEN_NUMA_MOVE_NO_ROOM : XEN_NUMA_MOVE_DONE);
		moved += !page_to_nid(at(gfn));
	}
	assert_int_equal(moved, 100);
	assert_int_equal(machine_free(0), DMA_PAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_frames_are_flushed_for_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_in_use_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_devices_need_is_left_alone, setup, teardown),
	};

	return cmocka_run_group_tests_name("mover", tests, NULL, NULL);
}
