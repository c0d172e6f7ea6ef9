/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving, touching and releasing with each allocation failing in turn.  Whatever fails, the domain owns as many frames as before, each
 * gfn has a frame of its own with its content, no other frame is anybody's, and no lock is held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>
#include "p2m-numa-batch.h"

#define PAGES 512UL

static struct p2m_domain *const p2m = &dom.p2m;
static struct p2m_numa_batch *b;
static struct xen_numa_move moves[P2M_NUMA_BATCH];
static bool is_pod[P2M_PAGES];
static unsigned long mapped;	/* gfns that had a page to begin with, from 0 on */

static struct page_info *at(unsigned long gfn)
{
	unsigned long within = gfn & ((1UL << p2m_entries[gfn].order) - 1);

	return mfn_to_page(_mfn((p2m_entries[gfn - within].raw & PADDR_MASK) >> PAGE_SHIFT)) + within;
}

static mfn_t get_entry(struct p2m_domain *unused, gfn_t gfn, p2m_type_t *t, p2m_access_t *a, int q, unsigned int *order, bool *s)
{
	const struct entry *e = &p2m_entries[gfn_x(gfn)];

	*a = p2m_access_rwx;
	*order = e->order;
	*t = e->present ? p2m_ram_rw : is_pod[gfn_x(gfn)] ? p2m_populate_on_demand : p2m_mmio_dm;
	return e->present ? page_to_mfn(at(gfn_x(gfn))) : INVALID_MFN;
}

/* To divide an entry takes a page for the table; and where it takes none, it may fail, too. */
static int set_entry(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t)
{
	unsigned long first = gfn_x(gfn), block = first & ~(PAGES - 1);

	assert_true(p2m->locked);
	if (p2m_entries[first].order != order && oom_strikes(OOM_TABLES))
		return -ENOMEM;
	if (p2m_entries[first].order > order)
		for (unsigned long i = block; i < block + PAGES; i++)
			p2m_entries[i].order = order;
	for (unsigned long i = 0; i < 1UL << order; i++) {
		bool pod = t == p2m_populate_on_demand;

		is_pod[first + i] = pod;
		p2m_entries[first + i] = (struct entry){ .present = !pod, .order = order,
			.raw = pod ? 0 : mfn_to_maddr(mfn_add(mfn, i)) | (t == p2m_ram_rw ? ENTRY_WRITE : 0) };
	}
	return 0;
}

static void begin(void)
{
	machine_reset();
	memset(is_pod, 0, sizeof(is_pod));
	p2m->get_entry = get_entry;
	machine_set_entry = set_entry;
	mapped = 0;
	hap_has_2mb = true;
}

static void map(nodeid_t node, unsigned int order)
{
	struct page_info *pg = machine_give(node, order);

	for (unsigned long i = 0; i < 1UL << order; i++, mapped++) {
		machine_list(pg + i);
		pg[i].m2p = mapped;
		p2m_entries[mapped] = (struct entry){ .present = true, .order = order, .raw = mfn_to_maddr(page_to_mfn(pg + i)) | ENTRY_WRITE };
	}
}

static void check_unlocked(void)
{
	assert_int_equal(p2m->locked, 0);
	assert_false(p2m->pod.locked || p2m->batch_flush || dom.page_alloc_lock);
}

/* All that is the domain's is mapped, or one of @waiting pages of the reserve; all else is free. */
static void check_pages(unsigned long waiting)
{
	unsigned long listed = 0, present = 0, available = 0;

	check_unlocked();
	machine_check();
	for (const struct page_info *pg = dom.page_list.head; pg; pg = pg->next)
		listed++;
	for (unsigned long gfn = 0; gfn < P2M_PAGES; gfn++) {
		if (!p2m_entries[gfn].present)
			continue;
		present++;
		assert_false(at(gfn)->is_free);
		assert_ptr_equal(at(gfn)->owner, &dom);
		assert_ptr_equal(at(gfn)->list, &dom.page_list);
		assert_true(at(gfn)->count_info == (PGC_allocated | 1));
		/* One frame behind two gfns could say that of one only. */
		assert_int_equal(at(gfn)->m2p, gfn);
		assert_true(p2m_entries[gfn].raw & ENTRY_WRITE);
	}
	for (nodeid_t node = 0; node < NODES; node++)
		available += machine_free(node);
	assert_int_equal(listed, present);
	assert_int_equal(machine_owned(&dom), present + waiting);
	assert_int_equal(available, FRAMES - present - waiting);
}

static void end_domain(void)
{
	p2m_reserve_free(p2m);
	machine_set_entry = NULL;
}

/* A batch. */

static int new_batch(void)
{
	b = p2m_numa_batch_new(&dom);
	return b ? 0 : -ENOMEM;
}

static void free_batch(void)
{
	p2m_numa_batch_free(b);
	b = NULL;
	end_domain();
}

static void check_batch(int rc)
{
	check_pages(0);
	assert_int_equal(!b, rc == -ENOMEM);
}

/* Moves. */

static void check_moved(int rc)
{
	check_pages(0);
	assert_int_equal(machine_owned(&dom), mapped);
	for (unsigned long gfn = 0; gfn < mapped; gfn++) {
		assert_true(p2m_entries[gfn].present);
		assert_int_equal(at(gfn)->content, gfn + 1);
		if (moves[gfn].result == XEN_NUMA_MOVE_DONE || moves[gfn].result == XEN_NUMA_MOVE_THERE)
			assert_int_equal(page_to_nid(at(gfn)), moves[gfn].node);
		else if (moves[gfn].result != XEN_NUMA_MOVE_NO_TABLE)
			assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_NO_ROOM);
	}
}

static int move(bool renew)
{
	unsigned int done;

	assert_int_equal(p2m_numa_move(b, moves, mapped, renew, &done), 0);
	for (unsigned long gfn = 0; gfn < mapped; gfn++)
		if (moves[gfn].result == XEN_NUMA_MOVE_NO_ROOM || moves[gfn].result == XEN_NUMA_MOVE_NO_TABLE)
			return -ENOMEM;
	return 0;
}

static int move_named(void)
{
	return move(false);
}

static int move_renewing(void)
{
	return move(true);
}

static void begin_to_move(void)
{
	assert_int_equal(new_batch(), 0);
	for (unsigned long gfn = 0; gfn < mapped; gfn++)
		moves[gfn] = (struct xen_numa_move){ .gfn = gfn, .node = 1 + gfn % 2 };
}

static void begin_small(void)
{
	begin();
	while (mapped < 301)
		map(3, 0);
	begin_to_move();
}

static void begin_large(void)
{
	begin();
	map(1, 9);
	begin_to_move();
}

static int move_2m(void)
{
	unsigned int result;

	assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), 2, &result), 0);
	for (unsigned long gfn = 0; gfn < mapped; gfn++)
		moves[gfn] = (struct xen_numa_move){ .node = 2, .result = result };
	/* One who finds it there has nothing to do. */
	return result == XEN_NUMA_MOVE_DONE || result == XEN_NUMA_MOVE_THERE ? 0 : -ENOMEM;
}

static void begin_512(void)
{
	begin();
	while (mapped < PAGES)
		map(mapped % 3, 0);
	begin_to_move();
}

/* Touches: there always is a page. */

static void begin_reserve(unsigned int order, unsigned int nr)
{
	begin();
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	pod_lock(p2m);
	while (nr--)
		p2m_reserve_put(p2m, machine_give(1, order), order);
	pod_unlock(p2m);
	machine_leave_dirty(2);
	machine_wanted = 2;
	machine_grain = order;
}

static void begin_super(void)
{
	begin_reserve(9, 1);
}

static void begin_singles(void)
{
	begin_reserve(0, 40);
}

static struct page_info *touch(unsigned int order)
{
	struct page_info *pg;

	pod_lock(p2m);
	pg = p2m_reserve_touch(p2m, _gfn(mapped), order);
	pod_unlock(p2m);
	for (unsigned long i = 0; pg && i < 1UL << order; i++, mapped++) {
		assert_int_equal(pg[i].content, 0);
		machine_list(pg + i);
		pg[i].m2p = mapped;
		p2m_entries[mapped] = (struct entry){ .present = true, .raw = mfn_to_maddr(page_to_mfn(pg + i)) | ENTRY_WRITE };
	}
	return pg;
}

static int touch_2m(void)
{
	/* As p2m_pod_demand_populate() does where 2 MiB cannot be had. */
	if (!touch(9))
		while (mapped < PAGES)
			assert_non_null(touch(0));
	return 0;
}

static int touch_40(void)
{
	while (mapped < 40)
		assert_non_null(touch(0));
	return 0;
}

static int touch_one(void)
{
	assert_non_null(touch(0));
	return 0;
}

static void check_touched(int rc)
{
	check_pages(0);
}

static void check_one_touched(int rc)
{
	check_pages(PAGES - 1);
}

/* The reserve itself. */

static int init_reserve(void)
{
	return p2m_numa_untouched_init(&dom, true);
}

static void check_reserve(int rc)
{
	check_pages(0);
	assert_int_equal(!p2m_has_reserve(p2m), rc == -ENOMEM);
}

/* Releases: a page of 2 MiB, all of the next, half of the one after. */

static const struct { unsigned long gfn; unsigned int nr; } pieces[] = { { 7, 1 }, { PAGES, PAGES }, { 2 * PAGES, PAGES / 2 } };
static uint64_t released;

static void begin_to_release(void)
{
	begin();
	assert_int_equal(p2m_numa_untouched_init(&dom, true), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(pieces); i++)
		map(i, 9);
	released = 0;
}

static int release(void)
{
	struct p2m_numa_release r;
	bool no_room = false;

	for (unsigned int i = 0; i < ARRAY_SIZE(pieces); i++) {
		assert_int_equal(p2m_numa_release_begin(&r, &dom), 0);
		assert_true(p2m_numa_release(&r, _gfn(pieces[i].gfn), pieces[i].nr));
		p2m_numa_release_end(&r);
		released += r.pages[P2M_NUMA_RELEASED];
		no_room |= r.pages[P2M_NUMA_NO_ROOM];
	}
	return no_room ? -ENOMEM : 0;
}

static void check_released(int rc)
{
	unsigned long pod = 0;

	for (unsigned long gfn = 0; gfn < P2M_PAGES; gfn++)
		pod += is_pod[gfn];
	assert_int_equal(pod, released);
	assert_int_equal(p2m->pod.entry_count, released);
	assert_int_equal(p2m->pod.count, released);
	check_pages(released);
	if (!rc)
		assert_int_equal(released, 1 + PAGES + PAGES / 2);
}

static const struct oom_case cases[] = {
	{ "a batch", begin, new_batch, check_batch, free_batch, { [OOM_XEN] = 1 } },
	{ "a reserve", begin, init_reserve, check_reserve, end_domain, { [OOM_XEN] = 1 } },
	{ "move 301 pages", begin_small, move_named, check_moved, free_batch, { [OOM_FRAMES] = 15 } },
	{ "move half of 2 MiB", begin_large, move_named, check_moved, free_batch, { [OOM_FRAMES] = 16, [OOM_TABLES] = 1 } },
	{ "move 2 MiB to two nodes", begin_large, move_renewing, check_moved, free_batch, { [OOM_FRAMES] = 16, [OOM_TABLES] = 1 } },
	{ "move 2 MiB", begin_large, move_2m, check_moved, free_batch, { [OOM_FRAMES] = 1 } },
	{ "move 512 pages into one", begin_512, move_2m, check_moved, free_batch, { [OOM_FRAMES] = 1, [OOM_TABLES] = 1 } },
	{ "touch 2 MiB", begin_super, touch_2m, check_touched, end_domain, { [OOM_FRAMES] = 1 } },
	{ "touch a page of 2 MiB", begin_super, touch_one, check_one_touched, end_domain, { [OOM_FRAMES] = 1 } },
	{ "touch 40 pages", begin_singles, touch_40, check_touched, end_domain, { [OOM_FRAMES] = 40 } },
	{ "release", begin_to_release, release, check_released, end_domain, { [OOM_TABLES] = 2 } },
};

int main(void)
{
	OOM_TESTS(cases, tests);

	return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}
