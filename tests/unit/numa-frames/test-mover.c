/* SPDX-License-Identifier: GPL-2.0-only */
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
static unsigned int done;

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

static void setup_again(bool ept)
{
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
	machine_has_ept = ept;
}

static struct page_info *map(unsigned long gfn, nodeid_t node)
{
	struct page_info *pg = machine_give(node, 0);

	machine_list(pg);
	p2m_entries[gfn] = (struct entry){ .present = true, .raw = mfn_to_maddr(page_to_mfn(pg)) | ENTRY_DIRTY | ENTRY_WRITE };
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
	assert_int_equal(p2m_numa_move(b, moves, nr, false, &done), 0);
	assert_int_equal(done, nr);
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
	assert_int_equal(machine_counted[1], -300);
	assert_int_equal(machine_counted[2], 300);
}

/* On NPT it writes while pages are copied, and is found out; on EPT it cannot. */
static void what_is_written_is_not_lost(void **unused)
{
	for (unsigned int round = 0; round < 40; round++) {
		unsigned long nr = round % 2 ? 300 : 12, again;
		bool first = nr == 300 && round % 4 < 2;
		struct p2m_numa_cost cost;

		setup_again(round % 4 > 1);
		for (unsigned long gfn = 0; gfn < nr; gfn++)
			map(gfn, 1);
		machine_guest_runs = true;
		move(nr, 2);
		cost = p2m_numa_batch_cost(b);
		again = machine_copies - nr;
		for (unsigned long gfn = 0; gfn < nr; gfn++) {
			assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_DONE);
			assert_int_equal(page_to_nid(at(gfn)), 2);
			assert_int_equal(at(gfn)->content, machine_wanted_content(gfn));
		}
		assert_int_equal(machine_flushes, first ? 3 : 2);
		assert_int_equal(cost.copied_again, again);
		assert_true(machine_guest_writes && machine_guest_waits);
		assert_true(first ? again > 0 && again <= 24 : !again);
	}
}

/* What is not written is copied before anybody has to wait. */
static void writers_wait_for_flushes(void **unused)
{
	struct p2m_numa_cost cost;

	machine_copy_takes = 10;
	machine_flush_takes = 100;
	for (unsigned long gfn = 0; gfn < 300; gfn++)
		map(gfn, 1);
	move(300, 2);
	cost = p2m_numa_batch_cost(b);
	assert_int_equal(cost.pause_ns, 2 * 100);
	assert_int_equal(cost.longest_ns, 300 * 10 + 3 * 100);
	assert_int_equal(cost.copied_again, 0);
}

/* 2 MiB on node 1 that are one entry, of which the odd pages go to node 2. */
static struct page_info *map_superpage(void)
{
	struct page_info *pg = machine_give(1, 9);

	for (unsigned long gfn = 0; gfn < 512; gfn++) {
		machine_list(pg + gfn);
		p2m_entries[gfn] = (struct entry){ .present = true, .order = 9,
			.raw = mfn_to_maddr(page_to_mfn(pg + gfn)) | ENTRY_DIRTY | ENTRY_WRITE };
		moves[gfn] = (struct xen_numa_move){ .gfn = gfn, .node = 1 + gfn % 2 };
	}
	return pg;
}

/* 512 pages in a row become one entry. */
static int join(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t)
{
	assert_int_equal(order, 9);
	p2m_entries[gfn_x(gfn)] = (struct entry){ .present = true, .order = 9, .raw = mfn_to_maddr(mfn) | (t == p2m_ram_rw ? ENTRY_WRITE : 0) };
	return 0;
}

#define FLUSH 10000
#define COPY  1000

static void slow_machine(unsigned int limit_us)
{
	machine_flush_takes = FLUSH;
	machine_copy_takes = COPY;
	machine_change_takes = 50;
	p2m_numa_batch_limit(b, limit_us);
}

/* Whatever the limit is: no pause is longer, and what can move within it does. */
static void a_limit_is_kept(void **unused)
{
	static const unsigned int limits[] = { 15, 21, 25, 32, 40, 100, 1000 };
	const unsigned long nr = 300;

	for (unsigned int i = 0; i < 4 * ARRAY_SIZE(limits); i++) {
		unsigned int limit = limits[i / 4], batches = 0;
		struct p2m_numa_cost cost;

		setup_again(i & 1);
		slow_machine(limit);
		for (unsigned long gfn = 0; gfn < nr; gfn++) {
			map(gfn, 1);
			moves[gfn] = (struct xen_numa_move){ .gfn = gfn, .node = 2 };
		}
		machine_guest_runs = i & 2;
		for (unsigned int at = 0; at < nr; at += done, batches++) {
			assert_int_equal(p2m_numa_move(b, moves + at, nr - at, false, &done), 0);
			assert_true(done);
		}
		machine_check();
		cost = p2m_numa_batch_cost(b);
		assert_true(cost.pause_ns <= MICROSECS(limit));
		assert_int_equal(cost.exceeded, 0);
		for (unsigned long gfn = 0; gfn < nr; gfn++) {
			assert_int_equal(moves[gfn].result, limit > 21 ? XEN_NUMA_MOVE_DONE : XEN_NUMA_MOVE_LATE);
			assert_int_equal(page_to_nid(at(gfn)), moves[gfn].result == XEN_NUMA_MOVE_DONE ? 2 : 1);
			assert_int_equal(at(gfn)->content, machine_wanted_content(gfn));
			assert_true(p2m_entries[gfn].raw & ENTRY_WRITE);
		}
		assert_int_equal(machine_owned(&dom), nr);
		/* Nobody ever waits for what cannot be. */
		if (limit == 15)
			assert_true(!machine_guest_waits && batches == 1);
		if (limit == 1000)
			assert_in_range(batches, 2, 4);
	}
}

/* What takes long for once is believed, and forgotten. */
static void what_breaks_a_limit_is_counted(void **unused)
{
	struct p2m_numa_cost cost;

	slow_machine(100);
	for (unsigned long gfn = 0; gfn < 4; gfn++)
		map(gfn, 1);
	move(1, 2);
	assert_int_equal(p2m_numa_batch_cost(b).exceeded, 0);
	machine_slow_flush = machine_flushes + 2;
	move(1, 3);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_DONE);
	cost = p2m_numa_batch_cost(b);
	assert_int_equal(cost.exceeded, 1);
	assert_true(cost.pause_ns > MICROSECS(100));
	/* The next flush is one that nobody waits for. */
	move(1, 2);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_DONE);
	assert_int_equal(p2m_numa_batch_cost(b).exceeded, 0);
}

/* Nor is anything else that took long once: pages move again, and no limit is broken by trying. */
static void what_was_held_up_is_forgotten(void **unused)
{
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int tries = 0, exceeded = i / 2;

		setup_again(i & 1);
		slow_machine(100);
		map(0, 1);
		move(1, 2);
		if (exceeded)
			machine_change_takes = MICROSECS(400);
		else
			machine_copy_takes = MICROSECS(400);
		move(1, 1);
		slow_machine(100);
		assert_int_equal(!!p2m_numa_batch_cost(b).exceeded, 1);
		do {
			move(1, 3);
			assert_in_range(++tries, 1, 100);
		} while (moves[0].result != XEN_NUMA_MOVE_DONE);
		assert_true(tries > 1);
		assert_int_equal(p2m_numa_batch_cost(b).exceeded, 0);
		machine_check();
	}
}

static unsigned int batches_for(unsigned long nr, nodeid_t node)
{
	unsigned int batches = 0;

	for (unsigned long i = 0; i < nr; i++)
		moves[i] = (struct xen_numa_move){ .gfn = i, .node = node };
	for (unsigned long at = 0; at < nr; at += done, batches++) {
		assert_int_equal(p2m_numa_move(b, moves + at, nr - at, false, &done), 0);
		assert_true(done);
	}
	machine_check();
	return batches;
}

/* What took long, though not too long, has small batches follow, which become large again. */
static void batches_become_large_again(void **unused)
{
	unsigned int usual, now, rounds = 0;

	slow_machine(1000);
	for (unsigned long gfn = 0; gfn < 300; gfn++)
		map(gfn, 1);
	batches_for(300, 2);
	usual = batches_for(300, 1);
	machine_change_takes = MICROSECS(20);
	move(1, 3);
	slow_machine(1000);
	assert_int_equal(p2m_numa_batch_cost(b).exceeded, 0);
	now = batches_for(300, 2);
	assert_true(now > usual);
	while (now > usual) {
		assert_in_range(++rounds, 1, 50);
		now = batches_for(300, 1 + rounds % 2);
	}
}

/* 2 MiB move within a limit where they are copied before, if nobody writes to them. */
static void two_mib_keep_a_limit(void **unused)
{
	for (unsigned int i = 0; i < 4; i++) {
		bool ept = i & 1, written = i & 2, moved = !ept && !written;
		struct p2m_numa_cost cost;
		struct page_info *pg;
		unsigned int result;

		setup_again(ept);
		slow_machine(200);
		hap_has_2mb = true;
		pg = map_superpage();
		memset(p2m_entries + 1, 0, 511 * sizeof(*p2m_entries));
		for (unsigned int again = 0; again < 2 - moved; again++) {
			unsigned long copies = machine_copies;

			machine_guest_runs = written;
			assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), 2, &result), 0);
			machine_guest_runs = false;
			cost = p2m_numa_batch_cost(b);
			assert_int_equal(result, moved ? XEN_NUMA_MOVE_DONE : XEN_NUMA_MOVE_LATE);
			assert_true(cost.pause_ns <= MICROSECS(200));
			assert_int_equal(cost.exceeded, 0);
			/* Once it is known that it takes too long, nobody tries. */
			if (!moved)
				assert_true(again || ept ? machine_copies - copies < (again ? 1 : 200) + (ept ? 0 : 512) : true);
			assert_true(p2m_entries[0].raw & ENTRY_WRITE);
			assert_int_equal(at(0)->content, machine_wanted_content(0));
			assert_int_equal(at(511 - 511) == pg, !moved);
			assert_int_equal(machine_counted[2], moved ? 512 : 0);
			assert_int_equal(machine_owned(&dom), 512);
		}
	}
	hap_has_2mb = false;
}

/* 512 become one, or stay, all of them. */
static void all_of_2_mib_or_nothing(void **unused)
{
	for (unsigned int round = 0; round < 2; round++) {
		unsigned int result;

		setup_again(true);
		slow_machine(round ? 2000 : 300);
		hap_has_2mb = true;
		machine_set_entry = round ? join : NULL;
		for (unsigned long gfn = 0; gfn < 512; gfn++)
			map(gfn, 1);
		assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), 2, &result), 0);
		machine_check();
		assert_int_equal(result, round ? XEN_NUMA_MOVE_DONE : XEN_NUMA_MOVE_LATE);
		assert_true(p2m_numa_batch_cost(b).pause_ns <= MICROSECS(round ? 2000 : 300));
		for (unsigned long gfn = 0; gfn < 512; gfn++) {
			const struct page_info *pg = at(round ? 0 : gfn) + (round ? gfn : 0);

			assert_int_equal(page_to_nid(pg), round ? 2 : 1);
			assert_int_equal(pg->content, gfn + 1);
			assert_true(pg->count_info == (PGC_allocated | 1));
			assert_true(round || p2m_entries[gfn].raw & ENTRY_WRITE);
		}
		assert_int_equal(machine_owned(&dom), 512);
	}
	hap_has_2mb = false;
	machine_set_entry = NULL;
}

/* As join(), for a guest that goes on at each of them. */
static int join_all(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t)
{
	assert_int_equal(order, 9);
	machine_guest();
	for (unsigned long i = 0; i < 512; i++)
		p2m_entries[gfn_x(gfn) + i] = (struct entry){ .present = true, .order = 9,
			.raw = mfn_to_maddr(mfn_add(mfn, i)) | (t == p2m_ram_rw ? ENTRY_WRITE : 0) };
	machine_guest();
	return 0;
}

/* Compacting: 512 pages of all nodes become one of any node, of their own, too, and nothing that is written meanwhile is lost. */
static void pages_that_are_written_become_one(void **unused)
{
	for (unsigned int round = 0; round < 40; round++) {
		nodeid_t node = round % NODES;
		unsigned int result;

		setup_again(round & 1);
		hap_has_2mb = true;
		machine_set_entry = join_all;
		for (unsigned long gfn = 0; gfn < 512; gfn++)
			map(gfn, round & 2 ? gfn % NODES : node);
		machine_guest_runs = true;
		assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), node, &result), 0);
		machine_guest_runs = false;
		machine_check();
		assert_int_equal(result, XEN_NUMA_MOVE_DONE);
		assert_true(machine_guest_writes);
		for (unsigned long gfn = 0; gfn < 512; gfn++) {
			assert_ptr_equal(at(gfn), at(0) + gfn);
			assert_int_equal(page_to_nid(at(gfn)), node);
			assert_int_equal(at(gfn)->content, machine_wanted_content(gfn));
			assert_true(at(gfn)->count_info == (PGC_allocated | 1) && p2m_entries[gfn].raw & ENTRY_WRITE);
		}
		assert_int_equal(mfn_x(page_to_mfn(at(0))) % 512, 0);
		assert_int_equal(machine_owned(&dom), 512);
	}
	hap_has_2mb = false;
	machine_set_entry = NULL;
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

/* A page may be taken offline at any time: it is, once it is free. */
static void what_goes_offline_stays_marked(void **unused)
{
	struct page_info *broken = map(0, 1), *leaves = map(1, 1), *typed = map(2, 1);

	broken->count_info |= PGC_state_offlining | PGC_broken;
	leaves->count_info |= PGC_state_offlining;
	typed->u.inuse.type_info = PGT_writable_page | 1;
	machine_offline = &typed->count_info;
	move(3, 2);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_UNMOVABLE);
	assert_int_equal(moves[1].result, XEN_NUMA_MOVE_DONE);
	assert_true(leaves->is_offline);
	assert_int_equal(moves[2].result, XEN_NUMA_MOVE_BUSY);
	assert_true(typed->count_info == (PGC_allocated | PGC_state_offlining | 1));

	map(3, 1);
	machine_marks = true;
	moves[0] = (struct xen_numa_move){ .gfn = 3, .node = 2 };
	assert_int_equal(p2m_numa_move(b, moves, 1, false, &done), 0);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_DONE);
	assert_true(at(3)->count_info == (PGC_allocated | PGC_state_offlining | PGC_broken | 1));
	assert_int_equal(machine_owned(&dom), 4);
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

static int divide(gfn_t gfn, mfn_t mfn, unsigned int order, p2m_type_t t)
{
	assert_int_equal(order, 0);
	assert_int_equal(p2m_entries[gfn_x(gfn)].order, 9);
	for (unsigned long i = 0; i < 512; i++)
		p2m_entries[i].order = 0;
	return 0;
}

static void move_half(bool renew)
{
	machine_set_entry = divide;
	assert_int_equal(p2m_numa_move(b, moves, 512, renew, &done), 0);
	assert_int_equal(done, 512);
	machine_set_entry = NULL;
	machine_check();
	assert_int_equal(machine_owned(&dom), 512);
	for (unsigned long gfn = 0; gfn < 512; gfn++) {
		assert_int_equal(at(gfn)->content, gfn + 1);
		assert_true(p2m_entries[gfn].raw & ENTRY_WRITE);
	}
}

/* Frames of a former superpage that came free. */
static unsigned int nr_free(const struct page_info *pg)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < 512; i++)
		nr += pg[i].is_free;
	return nr;
}

static void a_superpage_that_is_divided_comes_free(void **unused)
{
	struct page_info *old = map_superpage();

	move_half(true);
	for (unsigned long gfn = 0; gfn < 512; gfn++) {
		assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_DONE);
		assert_int_equal(page_to_nid(at(gfn)), 1 + gfn % 2);
	}
	assert_int_equal(nr_free(old), 512);
	assert_int_equal(machine_free(1), NODE_PAGES - 256);
	assert_int_equal(machine_free(2), NODE_PAGES - 256);
}

/* Dividing is optional: the last eighth of the pool is for others. */
static void tables_are_left_for_others(void **unused)
{
	for (unsigned int left = 100; left <= 101; left++) {
		bool divided = left > 800 / 8;

		setup_again(false);
		map_superpage();
		/* What the p2m has taken is in no other number. */
		dom.arch.paging.total_pages = dom.arch.paging.free_pages = left;
		dom.arch.paging.p2m_pages = 800 - left;
		machine_set_entry = divided ? divide : NULL;
		assert_int_equal(p2m_numa_move(b, moves, 512, false, &done), 0);
		machine_set_entry = NULL;
		for (unsigned long gfn = 0; gfn < 512; gfn++)
			assert_int_equal(moves[gfn].result, gfn % 2 == 0 ? XEN_NUMA_MOVE_THERE :
					 divided ? XEN_NUMA_MOVE_DONE : XEN_NUMA_MOVE_NO_TABLE);
		assert_int_equal(machine_owned(&dom), 512);
		/* What takes no table is as before: 2 MiB as one, and pages that are small already. */
		if (!divided) {
			unsigned int result;

			hap_has_2mb = true;
			memset(p2m_entries + 1, 0, 511 * sizeof(*p2m_entries));
			assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), 2, &result), 0);
			hap_has_2mb = false;
			assert_int_equal(result, XEN_NUMA_MOVE_DONE);
		}
	}
	setup_again(false);
	dom.arch.paging.total_pages = dom.arch.paging.free_pages = 0;
	dom.arch.paging.p2m_pages = 800;
	map(0, 1);
	move(1, 2);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_DONE);
}

/* No room, or room that somebody claims: for single pages, and for 2 MiB. */
static void a_claim_is_told_from_a_full_node(void **unused)
{
	static const struct {
		unsigned long free, unclaimed;	/* on node 2, and of all free memory */
		unsigned int single, large;
	} cases[] = {
		{ 0, 0, XEN_NUMA_MOVE_NO_ROOM, XEN_NUMA_MOVE_NO_ROOM },
		{ 0, 600, XEN_NUMA_MOVE_NO_ROOM, XEN_NUMA_MOVE_NO_ROOM },
		{ 1, 0, XEN_NUMA_MOVE_CLAIMED, XEN_NUMA_MOVE_NO_ROOM },
		{ 511, 511, XEN_NUMA_MOVE_DONE, XEN_NUMA_MOVE_NO_ROOM },
		{ 512, 0, XEN_NUMA_MOVE_CLAIMED, XEN_NUMA_MOVE_CLAIMED },
		{ 512, 511, XEN_NUMA_MOVE_DONE, XEN_NUMA_MOVE_CLAIMED },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int result;

		setup_again(false);
		hap_has_2mb = true;
		map_superpage();
		memset(p2m_entries + 1, 0, 511 * sizeof(*p2m_entries));
		machine_fill(2, cases[i].free);
		machine_claimed = avail_unclaimed_pages(NULL) - cases[i].unclaimed;
		assert_int_equal(p2m_numa_move_superpage(b, _gfn(0), 2, &result), 0);
		assert_int_equal(result, cases[i].large);
		assert_int_equal(page_to_nid(at(0)), 1);

		setup_again(false);
		map(0, 1);
		machine_fill(2, cases[i].free);
		machine_claimed = avail_unclaimed_pages(NULL) - cases[i].unclaimed;
		move(1, 2);
		assert_int_equal(moves[0].result, cases[i].single);
		assert_int_equal(page_to_nid(at(0)), cases[i].single == XEN_NUMA_MOVE_DONE ? 2 : 1);
	}
	hap_has_2mb = false;
	/* DMA's zone is room for nobody: no claim is in the way. */
	setup_again(false);
	map(0, 1);
	machine_fill(0, DMA_PAGES);
	machine_claimed = avail_unclaimed_pages(NULL);
	move(1, 0);
	assert_int_equal(moves[0].result, XEN_NUMA_MOVE_NO_ROOM);
}

static void who_names_pages_moves_these(void **unused)
{
	struct page_info *old = map_superpage();

	move_half(false);
	for (unsigned long gfn = 0; gfn < 512; gfn++)
		assert_int_equal(moves[gfn].result, gfn % 2 ? XEN_NUMA_MOVE_DONE : XEN_NUMA_MOVE_THERE);
	assert_int_equal(nr_free(old), 256);
}

/* It would not come free as a whole: what is there stays, all of it. */
static void without_room_what_is_there_stays(void **unused)
{
	for (unsigned int node = 1; node <= 2; node++) {
		unsigned int moved = 0;
		struct page_info *old;

		if (node == 2) {
			teardown(NULL);
			setup(NULL);
		}
		old = map_superpage();
		machine_fill(node, 100);
		move_half(true);
		for (unsigned long gfn = 0; gfn < 512; gfn++) {
			if (gfn % 2 == 0)
				assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_THERE);
			else if (node == 1)
				assert_int_equal(moves[gfn].result, XEN_NUMA_MOVE_DONE);
			moved += moves[gfn].result == XEN_NUMA_MOVE_DONE;
		}
		assert_int_equal(moved, node == 1 ? 256 : 100);
		assert_int_equal(nr_free(old), moved);
		assert_int_equal(machine_free(node), node == 1 ? 100 + 256 : 0);
	}
}

/* On its node it is where it should be, and nobody need be told why it was not copied. */
static void what_is_there_and_in_use_is_there(void **unused)
{
	struct page_info *old = map_superpage();

	old[10].count_info++;
	old[11].count_info++;
	move_half(true);
	assert_int_equal(moves[10].result, XEN_NUMA_MOVE_THERE);
	assert_int_equal(moves[11].result, XEN_NUMA_MOVE_BUSY);
	assert_int_equal(nr_free(old), 510);
	assert_ptr_equal(at(10), old + 10);
}

static void who_was_told_where_it_is_keeps_it(void **unused)
{
	static const char topology;

	(void)unused;
	map(0, 1);
	moves[0] = (struct xen_numa_move){ .gfn = 0, .node = 2 };
	dom.vnuma = (const struct vnuma_info *)&topology;
	assert_int_equal(p2m_numa_may_move(&dom), -EEXIST);
	assert_int_equal(p2m_numa_move(b, moves, 1, false, &done), -EEXIST);
	machine_check();
	assert_int_equal(page_to_nid(at(0)), 1);
	dom.vnuma = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_frames_are_flushed_for_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_written_is_not_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(writers_wait_for_flushes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(what_breaks_a_limit_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_held_up_is_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(batches_become_large_again, setup, teardown),
		cmocka_unit_test_setup_teardown(two_mib_keep_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(all_of_2_mib_or_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_that_are_written_become_one, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_in_use_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_goes_offline_stays_marked, setup, teardown),
		cmocka_unit_test_setup_teardown(what_devices_need_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_superpage_that_is_divided_comes_free, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_are_left_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(a_claim_is_told_from_a_full_node, setup, teardown),
		cmocka_unit_test_setup_teardown(who_names_pages_moves_these, setup, teardown),
		cmocka_unit_test_setup_teardown(without_room_what_is_there_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_there_and_in_use_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(who_was_told_where_it_is_keeps_it, setup, teardown),
	};

	return cmocka_run_group_tests_name("mover", tests, NULL, NULL);
}
