/* SPDX-License-Identifier: GPL-2.0-only */
/* The last column of list, or columns: the memory on each node. */
#ifndef BY_NODE_H
#define BY_NODE_H

#include "ask/types.h"
#include "print/output.h"

/*
 * A column a node is easy to compare and to cut; where that gets too wide, one
 * cell holds all nodes with memory. JSON has an array, indexed by node.
 */
enum shape { NODE_COLUMNS, NODE_CELL, NODE_ARRAY, NO_NODES };

/* The bytes that an entry has on each node; of the host they are others. */
typedef uint64_t by_node[NODES_MAX];

/* policy: NULL is the host's; bytes: NULL is unknown. */
void put_by_node(struct table *table, const struct policy *policy, const by_node bytes,
		 const struct nodes *nodes, enum shape shape);

/* Columns of the screen for the lines of NODE_CELL. */
void by_node_width(size_t width);

#endif
