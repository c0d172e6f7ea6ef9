/* SPDX-License-Identifier: GPL-2.0-only */
/* xen/gather.c with a stand-in for libxenctrl: a host of three nodes, and a domain of some blocks of 2 MiB. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>

#include "chance.h"
#include "xen/private.h"
#include "xen/xen.h"

#define NODES 3
#define CPUS 8
#define BLOCK 512
#define BLOCKS 100

xc_interface *xen_xc;

/* CPUs 0 to 3 are on node 0, 4 to 6 on node 1; CPU 7 is offline; node 2 has none. */
static xc_cputopo_t topology[CPUS];
struct xen_cpus xen_cpus = { .topology = topology, .nr = CPUS };

static struct page {
	uint32_t node, order;
} page[BLOCKS * BLOCK];
static uint64_t room[NODES_MAX];
static unsigned int moves, locates, refuses, vcpu_fails, move_error;
static uint8_t prefers[4];
static xc_domaininfo_t domain;

unsigned int xen_nodes(void)
{
	return NODES;
}

static int fails(int error)
{
	errno = error;
	return error ? -1 : 0;
}

xc_cpumap_t xc_cpumap_alloc(xc_interface *xch)
{
	(void)xch;
	return calloc(1, CPUS / 8);
}

int xc_get_cpumap_size(xc_interface *xch)
{
	(void)xch;
	return CPUS / 8;
}

void xc_cpumap_setcpu(int cpu, xc_cpumap_t map)
{
	map[cpu / 8] |= 1 << cpu % 8;
}

int xc_domain_getinfo_single(xc_interface *xch, uint32_t id, xc_domaininfo_t *info)
{
	(void)xch;
	*info = domain;
	return fails(id == 7 ? 0 : ESRCH);
}

/* There is no vCPU 1; Xen writes what is left of what it may run on. */
int xc_vcpu_setaffinity(xc_interface *xch, uint32_t id, int vcpu, xc_cpumap_t hard, xc_cpumap_t soft, uint32_t flags)
{
	(void)xch;
	assert_int_equal(id, 7);
	assert_null(hard);
	assert_int_equal(flags, XEN_VCPUAFFINITY_SOFT);
	assert_in_range(vcpu, 0, domain.max_vcpu_id);
	if (vcpu == 1)
		return fails(ESRCH);
	if (vcpu_fails && !--vcpu_fails)
		return fails(EPERM);
	prefers[vcpu] = *soft;
	*soft = 0;
	return 0;
}

int xc_domain_maximum_gpfn(xc_interface *xch, uint32_t id, xen_pfn_t *gpfn)
{
	(void)xch;
	*gpfn = BLOCKS * BLOCK - 1;
	return fails(id == 7 ? 0 : ESRCH);
}

int xc_domain_numa_locate(xc_interface *xch, uint32_t id, xen_numa_page_t *pages, uint32_t nr)
{
	uint32_t i;

	(void)xch, (void)id;
	locates++;
	for (i = 0; i < nr; i++) {
		const struct page *p = &page[pages[i].gfn];

		assert_in_range(pages[i].gfn, 0, BLOCKS * BLOCK - 1);
		pages[i].node = p->node;
		pages[i].order = p->order;
	}
	return 0;
}

/* As Xen's: entries below *done have a result; each may be refused, and a node is full when it is. */
int xc_domain_numa_move(xc_interface *xch, uint32_t id, xen_numa_move_t *move, uint32_t nr, uint32_t *done)
{
	uint32_t i, p;

	(void)xch, (void)id;
	moves++;
	if (move_error)
		return fails(move_error);
	for (i = *done; i < nr; i++) {
		assert_true(move[i].order == 0 || move[i].order == 9);
		assert_int_equal(move[i].gfn & ((1U << move[i].order) - 1), 0);
		assert_in_range(move[i].node, 0, NODES - 1);
		move[i].result = refuses && !--refuses ? XEN_NUMA_MOVE_BUSY : XEN_NUMA_MOVE_DONE;
		for (p = 0; move[i].result == XEN_NUMA_MOVE_DONE && p < 1U << move[i].order; p++)
			page[move[i].gfn + p].node = move[i].node;
	}
	*done = nr;
	return 0;
}

/* Superpages on node 0, but for a block of small pages on nodes in turn, with a hole, and holes of 1 and 2 blocks. */
static void begin(void)
{
	unsigned int i;

	for (i = 0; i < CPUS; i++)
		topology[i].node = i == 7 ? XEN_INVALID_NODE_ID : i / 4;
	for (i = 0; i < BLOCKS * BLOCK; i++)
		page[i] = (struct page){ .node = 0, .order = 9 };
	for (i = BLOCK; i < 2 * BLOCK; i++)
		page[i] = (struct page){ .node = i % NODES };
	page[BLOCK].node = page[BLOCK + 7].node = XEN_NUMA_PAGE_NONE;
	for (i = 3 * BLOCK; i < 6 * BLOCK; i++)
		page[i] = (struct page){ .node = XEN_NUMA_PAGE_NONE, .order = i < 4 * BLOCK ? 9 : 10 };
	for (i = 0; i < NODES_MAX; i++)
		room[i] = 1ULL << 40;
	moves = locates = refuses = vcpu_fails = move_error = 0;
	memset(prefers, 0, sizeof(prefers));
	domain = (xc_domaininfo_t){ .domain = 7, .max_vcpu_id = 3, .nr_online_vcpus = 3 };
}

static unsigned int on(uint32_t node)
{
	unsigned int i, nr = 0;

	for (i = 0; i < BLOCKS * BLOCK; i++)
		nr += page[i].node == node;
	return nr;
}

/* Until all was looked at, or as often. */
static int gather(uint64_t nodes, uint64_t pages, unsigned int times, uint64_t *moved, uint64_t *stays)
{
	uint64_t gfn = 0;
	int error = 0;

	*moved = *stays = 0;
	while (!error && gfn != XEN_REBALANCED && times--)
		error = xen_gather(7, nodes, &gfn, pages, room, moved, stays);
	return error;
}

static void all_of_it_goes(void **unused)
{
	unsigned int there, holes;
	uint64_t moved, stays;

	(void)unused;
	begin();
	there = on(2), holes = on(XEN_NUMA_PAGE_NONE);
	assert_int_equal(gather(4, UINT64_MAX, 1000, &moved, &stays), 0);
	assert_int_equal(on(2), BLOCKS * BLOCK - holes);
	assert_int_equal(moved, on(2) - there);
	assert_int_equal(stays, 0);
	assert_int_equal(room[2], (1ULL << 40) - moved * 4096);
	/* A superpage is asked of, and moves, at once. */
	assert_int_equal(moves, BLOCKS - 3);
	assert_int_equal(locates, BLOCKS);
	/* There is nothing more to do. */
	assert_int_equal(gather(4, UINT64_MAX, 1000, &moved, &stays), 0);
	assert_int_equal(moved + stays, 0);
	assert_int_equal(moves, BLOCKS - 3);
}

static void no_more_than_was_wanted(void **unused)
{
	uint64_t moved, stays, gfn = 0;

	(void)unused;
	begin();
	moved = stays = 0;
	assert_int_equal(xen_gather(7, 2, &gfn, 1, room, &moved, &stays), 0);
	assert_int_equal(moved, BLOCK);
	assert_int_equal(gfn, BLOCK);
	/* What is there already takes a call no longer than this. */
	gfn = moved = locates = 0;
	assert_int_equal(xen_gather(7, 7, &gfn, 1, room, &moved, &stays), 0);
	assert_int_equal(gfn, 65 * BLOCK);
	assert_int_equal(locates, 64 + 1);
}

static void nodes_fill_evenly_and_keep_their_reserve(void **unused)
{
	uint64_t moved, stays;

	(void)unused;
	begin();
	room[1] = 60ULL << 21;
	room[2] = 60ULL << 21;
	assert_int_equal(gather(6, UINT64_MAX, 1000, &moved, &stays), 0);
	assert_in_range(on(1), 48 * BLOCK, 49 * BLOCK);
	assert_in_range(on(2), 48 * BLOCK, 49 * BLOCK);
	begin();
	room[1] = (10ULL << 21) + 4096;
	assert_int_equal(gather(2, UINT64_MAX, 1000, &moved, &stays), ENOSPC);
	assert_in_range(moved, 9 * BLOCK, 10 * BLOCK);
}

static void what_stays_is_counted(void **unused)
{
	uint64_t moved, stays;

	(void)unused;
	begin();
	refuses = 1;
	assert_int_equal(gather(2, UINT64_MAX, 1000, &moved, &stays), 0);
	assert_int_equal(stays, BLOCK);
	assert_int_equal(on(0), BLOCK);
	begin();
	move_error = EXDEV;
	assert_int_equal(gather(2, UINT64_MAX, 1000, &moved, &stays), EXDEV);
	assert_int_equal(moved + stays, 0);
	assert_int_equal(moves, 1);
}

static void all_vcpus_prefer_the_nodes_cpus(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(xen_prefer(7, 2), 0);
	assert_true(prefers[0] == 0x70 && !prefers[1] && prefers[2] == 0x70 && prefers[3] == 0x70);
	assert_int_equal(xen_prefer(7, UINT64_MAX), 0);
	assert_int_equal(prefers[3], 0x7f);
	vcpu_fails = 2;
	assert_int_equal(xen_prefer(7, 1), EPERM);
	assert_true(prefers[0] == 0x0f && prefers[3] == 0x7f);
	assert_int_equal(xen_prefer(8, 1), ESRCH);
	domain.flags = XEN_DOMINF_dying;
	assert_int_equal(xen_prefer(7, 1), ESRCH);
	/* Its vCPUs are not made yet. */
	begin();
	domain.max_vcpu_id = XEN_INVALID_MAX_VCPU_ID;
	assert_int_equal(xen_prefer(7, 1), 0);
	assert_int_equal(prefers[0], 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_goes), cmocka_unit_test(no_more_than_was_wanted),
		cmocka_unit_test(nodes_fill_evenly_and_keep_their_reserve), cmocka_unit_test(what_stays_is_counted),
		cmocka_unit_test(all_vcpus_prefer_the_nodes_cpus),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
