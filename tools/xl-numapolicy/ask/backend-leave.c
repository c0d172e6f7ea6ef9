/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that no policy has a place for leaves a node: page by page, by libxenctrl, as libxl knows no such move. */
#include <errno.h>
#include <string.h>

#include <xenctrl.h>

#include "ask/backend.h"
#include "ask/context.h"

#define ORDER_2M 9
#define PAGES_2M (1U << ORDER_2M)

/* 2 MiB of a domain, as they are, and what is to be done with them. */
struct block {
	uint32_t domid;
	struct page page[PAGES_2M];
	xen_numa_move_t list[PAGES_2M];
	unsigned int nr;	/* in the list */
};

static void count(struct moves *moves, const xen_numa_move_t *move)
{
	uint64_t pages = 1U << move->order;

	switch (move->result) {
	case XEN_NUMA_MOVE_DONE:
		moves->moved += pages;
		break;
	case XEN_NUMA_MOVE_THERE:
		moves->there += pages;
		break;
	case XEN_NUMA_MOVE_NO_PAGE:
		break;
	case XEN_NUMA_MOVE_BUSY:
		moves->in_use += pages;
		break;
	case XEN_NUMA_MOVE_NO_ROOM:
		moves->no_room += pages;
		break;
	case XEN_NUMA_MOVE_LATE:
		moves->late += pages;
		break;
	case XEN_NUMA_MOVE_NO_TABLE:
		moves->no_table += pages;
		break;
	case XEN_NUMA_MOVE_CLAIMED:
		moves->claimed += pages;
		break;
	default:
		moves->unmovable += pages;
	}
}

/* To one node; the list is then what found no room there, which is not counted. */
static enum result move_list(struct block *b, unsigned int node, struct moves *moves)
{
	unsigned int i, left = 0;
	uint32_t done = 0;
	int error = 0;

	for (i = 0; i < b->nr; i++) {
		b->list[i].node = node;
		b->list[i].result = 0;
	}
	if (xc_domain_numa_move(control(), b->domid, b->list, b->nr, &done))
		error = errno;
	for (i = 0; i < done; i++)
		if (b->list[i].result == XEN_NUMA_MOVE_NO_ROOM)
			b->list[left++] = b->list[i];
		else
			count(moves, &b->list[i]);
	b->nr = left;
	return error ? result_of_errno(error, "Xen does not move it") : RESULT_OK;
}

/* In turn by 2 MiB; where a node is full, the next. */
static enum result move_block(struct block *b, const struct leave *leave, struct moves *moves)
{
	unsigned int i, first = b->page[0].gfn / PAGES_2M % leave->nr_to;
	enum result result = RESULT_OK;

	for (i = 0; i < leave->nr_to && b->nr && result == RESULT_OK; i++)
		result = move_list(b, leave->to[(first + i) % leave->nr_to], moves);
	return result;
}

static void list_pages(struct block *b, unsigned int nr, unsigned int order, unsigned int node, struct moves *moves)
{
	unsigned int i;

	b->nr = 0;
	for (i = 0; i < nr; i++)
		if (b->page[i].node == node)
			b->list[b->nr++] = (xen_numa_move_t){ .gfn = b->page[i].gfn, .order = order };
		else if (b->page[i].node != NO_NODE)
			moves->there += 1U << order;
}

static enum result leave_block(struct block *b, uint64_t *from, const struct leave *leave, struct moves *moves)
{
	uint64_t gfn = *from;
	enum result result;
	unsigned int i;

	*from = gfn + PAGES_2M;
	for (i = 0; i < PAGES_2M; i++)
		b->page[i].gfn = gfn + i;
	/* Of 2 MiB and more in one piece the first page says all. */
	result = backend_locate(b->domid, b->page, 1);
	if (result != RESULT_OK)
		return result;
	/* The guest decides how large its holes are. */
	if (b->page[0].node == NO_NODE && b->page[0].order >= ORDER_2M) {
		*from = ((gfn >> b->page[0].order) + 1) << b->page[0].order;
		return RESULT_OK;
	}
	if (b->page[0].order >= ORDER_2M) {
		list_pages(b, 1, ORDER_2M, leave->node, moves);
		result = move_block(b, leave, moves);
		/* Nowhere are 2 MiB in one piece. */
		if (result != RESULT_OK || !b->nr)
			return result;
		for (i = 0; i < PAGES_2M; i++)
			b->page[i].node = leave->node;
	} else {
		result = backend_locate(b->domid, b->page, PAGES_2M);
		if (result != RESULT_OK)
			return result;
	}
	list_pages(b, PAGES_2M, 0, leave->node, moves);
	result = move_block(b, leave, moves);
	for (i = 0; result == RESULT_OK && i < b->nr; i++)
		count(moves, &b->list[i]);
	return result;
}

enum result backend_leave(uint32_t domid, uint64_t *gfn, unsigned int max_pages, const struct leave *leave, struct moves *moves)
{
	static struct block block;
	enum result result = RESULT_OK;
	xen_pfn_t last;

	forget_reason();
	block.domid = domid;
	if (!control() || xc_domain_maximum_gpfn(control(), domid, &last))
		return result_of_errno(errno, "Xen does not tell how far its memory goes");
	while (result == RESULT_OK && *gfn <= last && moves->moved < max_pages) {
		result = leave_block(&block, gfn, leave, moves);
		/* A look is quick, but there may be many. */
		if (!(*gfn % LEAVE_STEP))
			break;
	}
	if (*gfn > last)
		*gfn = REBALANCE_END;
	return result;
}
