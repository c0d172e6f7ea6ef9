/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages that are moved one by one, as Xen does: all or nothing of 2 MiB, a result for each entry, and what is in use or
 * finds no room stays. Of one domain, whose first gfns have memory.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <xenctrl.h>

#include "fake.h"

#define MOST (1U << 20)
#define NODES 64

static unsigned char place[MOST];	/* node + 1 of what has moved */
static unsigned char divided[MOST >> 9];
static bool in_use[MOST];
static unsigned int room[NODES] = { [0 ... NODES - 1] = 9 };	/* up to this order; what has none: ~0U */

bool read_leave_line(const char *word, const char *line)
{
	unsigned int one, other;

	if (!strcmp(word, "busy") && sscanf(line, "%u", &one) == 1 && one < MOST) {
		in_use[one] = true;
		return true;
	}
	if (!strcmp(word, "divided") && sscanf(line, "%u", &one) == 1 && one < MOST) {
		divided[one >> 9] = 1;
		return true;
	}
	if (!strcmp(word, "room") && sscanf(line, "%u %u", &one, &other) == 2 && one < NODES) {
		room[one] = other;
		return true;
	}
	return false;
}

void where_now(uint64_t gfn, uint32_t *node, uint32_t *order)
{
	if (gfn < MOST && place[gfn])
		*node = place[gfn] - 1;
	if (gfn < MOST && divided[gfn >> 9])
		*order = 0;
}

int xc_domain_maximum_gpfn(xc_interface *xch, uint32_t domid, xen_pfn_t *gpfns)
{
	int error = fails("maximum");

	assert(xch);
	trace("maximum %u\n", domid);
	*gpfns = last_gfn();
	errno = error ? error : errno;
	return error ? -1 : 0;
}

static unsigned int move_one(uint32_t domid, const xen_numa_move_t *move)
{
	uint32_t node, order;
	unsigned int i;

	where_is(move->gfn, &node, &order);
	if (node == ~0U)
		return XEN_NUMA_MOVE_NO_PAGE;
	if (node == move->node && order >= move->order)
		return XEN_NUMA_MOVE_THERE;
	for (i = 0; i < 1U << move->order; i++)
		if (in_use[move->gfn + i])
			return XEN_NUMA_MOVE_BUSY;
	if (room[move->node] == ~0U || room[move->node] < move->order)
		return XEN_NUMA_MOVE_NO_ROOM;
	if (!move->order && order)
		divide(domid, node);
	divided[move->gfn >> 9] |= !move->order;
	for (i = 0; i < 1U << move->order; i++)
		place[move->gfn + i] = move->node + 1;
	change_usage(domid, node, move->node, move->order);
	return XEN_NUMA_MOVE_DONE;
}

int xc_domain_numa_move(xc_interface *xch, uint32_t domid, xen_numa_move_t *moves, uint32_t nr, uint32_t *done)
{
	int error = fails("move");

	assert(xch && !*done && nr);
	trace("move %u %lu %u of order %u to %u\n", domid, moves->gfn, nr, moves->order, moves->node);
	step_of_moving(domid);
	if (error) {
		errno = error;
		return -1;
	}
	for (; *done < nr; moves++, (*done)++) {
		assert((!moves->order || moves->order == 9) && !(moves->gfn & ((1U << moves->order) - 1)));
		assert(!moves->result && moves->node < NODES && moves->gfn < MOST);
		moves->result = move_one(domid, moves);
	}
	return 0;
}
