/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a domain's vCPUs prefer to run, and its memory beside them: what heal does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/xen.h"
#include "xen/private.h"

#define BLOCK_ORDER 9
#define BLOCK (1U << BLOCK_ORDER)	/* pages of 4 KiB */
#define BLOCKS 64			/* that a call looks at: where nothing is to be moved, it ends, too */

static void set_cpus(xc_cpumap_t map, uint64_t nodes)
{
	unsigned int i;

	for (i = 0; i < xen_cpus.nr; i++)
		if (xen_cpus.topology[i].node < xen_nodes() && nodes >> xen_cpus.topology[i].node & 1)
			xc_cpumap_setcpu(i, map);
}

int xen_prefer(unsigned int domid, uint64_t nodes)
{
	xc_cpumap_t map = xc_cpumap_alloc(xen_xc), told = xc_cpumap_alloc(xen_xc);
	xc_domaininfo_t info;
	unsigned int v;
	int error = map && told ? 0 : ENOMEM;

	if (!error)
		set_cpus(map, nodes);
	if (!error && xc_domain_getinfo_single(xen_xc, domid, &info))
		error = errno;
	if (!error && info.flags & XEN_DOMINF_dying)
		error = ESRCH;
	for (v = 0; !error && info.max_vcpu_id != XEN_INVALID_MAX_VCPU_ID && v <= info.max_vcpu_id; v++) {
		/* Xen writes what came of it to where it was told. */
		memcpy(told, map, xc_get_cpumap_size(xen_xc));
		/* There need not be a vCPU of each number. */
		if (xc_vcpu_setaffinity(xen_xc, domid, v, NULL, told, XEN_VCPUAFFINITY_SOFT) && errno != ESRCH)
			error = errno;
	}
	free(map);
	free(told);
	return error;
}

/* The one of @nodes that has most free. */
static unsigned int roomiest(uint64_t nodes, const uint64_t room[NODES_MAX])
{
	unsigned int n, best = NODES_MAX;

	for (n = 0; n < NODES_MAX; n++)
		if (nodes >> n & 1 && (best == NODES_MAX || room[n] > room[best]))
			best = n;
	return best;
}

static bool is_off(const xen_numa_page_t *page, uint64_t nodes)
{
	return page->node != XEN_NUMA_PAGE_NONE && (page->node >= NODES_MAX || !(nodes >> page->node & 1));
}

struct block {
	xen_numa_page_t page[BLOCK];
	xen_numa_move_t move[BLOCK];
};

/* One move of a superpage, else one of each page: how many there are. *from is what follows then. */
static int list(unsigned int domid, struct block *b, uint64_t *from, uint64_t nodes, unsigned int to, unsigned int *nr)
{
	uint64_t gfn = *from;
	unsigned int i, pages = BLOCK - gfn % BLOCK;

	*nr = 0;
	*from = gfn + pages;
	for (i = 0; i < pages; i++)
		b->page[i].gfn = gfn + i;
	if (xc_domain_numa_locate(xen_xc, domid, b->page, 1))
		return errno;
	/* The guest decides how large its holes are. */
	if (b->page[0].node == XEN_NUMA_PAGE_NONE && b->page[0].order >= BLOCK_ORDER) {
		*from = ((gfn >> b->page[0].order) + 1) << b->page[0].order;
		return 0;
	}
	if (pages == BLOCK && b->page[0].order >= BLOCK_ORDER) {
		if (is_off(&b->page[0], nodes))
			b->move[(*nr)++] = (xen_numa_move_t){ .gfn = gfn, .node = to, .order = BLOCK_ORDER };
		return 0;
	}
	if (xc_domain_numa_locate(xen_xc, domid, b->page, pages))
		return errno;
	for (i = 0; i < pages; i++)
		if (is_off(&b->page[i], nodes))
			b->move[(*nr)++] = (xen_numa_move_t){ .gfn = gfn + i, .node = to };
	return 0;
}

/* What became of them; the first @done have a result. */
static void count(const struct block *b, unsigned int done, uint64_t *room, uint64_t *moved, uint64_t *stays)
{
	unsigned int i;

	for (i = 0; i < done; i++) {
		uint64_t pages = 1ULL << b->move[i].order, bytes = pages << PAGE_SHIFT;

		if (b->move[i].result == XEN_NUMA_MOVE_DONE) {
			*moved += pages;
			*room -= bytes < *room ? bytes : *room;
		} else if (b->move[i].result != XEN_NUMA_MOVE_THERE && b->move[i].result != XEN_NUMA_MOVE_NO_PAGE) {
			*stays += pages;
		}
	}
}

static int gather_block(unsigned int domid, struct block *b, uint64_t nodes, uint64_t *gfn, uint64_t room[NODES_MAX],
			uint64_t *moved, uint64_t *stays)
{
	unsigned int nr, to = roomiest(nodes, room);
	uint64_t next = *gfn;
	uint32_t done = 0;
	int error = list(domid, b, &next, nodes, to, &nr);

	if (!error && nr && room[to] >> PAGE_SHIFT < BLOCK)
		error = ENOSPC;
	if (!error && nr && xc_domain_numa_move(xen_xc, domid, b->move, nr, &done))
		error = errno;
	count(b, done, &room[to], moved, stays);
	if (!error)
		*gfn = next;
	return error;
}

int xen_gather(unsigned int domid, uint64_t nodes, uint64_t *gfn, uint64_t pages, uint64_t room[NODES_MAX], uint64_t *moved,
	       uint64_t *stays)
{
	struct block *b = malloc(sizeof(*b));
	uint64_t before = *moved;
	unsigned int blocks;
	xen_pfn_t last;
	int error = b ? 0 : ENOMEM;

	if (!error && xc_domain_maximum_gpfn(xen_xc, domid, &last))
		error = errno;
	for (blocks = 0; !error && *gfn <= last && blocks < BLOCKS && *moved - before < pages; blocks++)
		error = gather_block(domid, b, nodes, gfn, room, moved, stays);
	if (!error && *gfn > last)
		*gfn = XEN_REBALANCED;
	free(b);
	return error;
}
