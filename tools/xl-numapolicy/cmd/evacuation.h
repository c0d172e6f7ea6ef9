/* SPDX-License-Identifier: GPL-2.0-only */
/* One VM leaves a node: its home nodes become others, and its memory goes there. */
#ifndef EVACUATION_H
#define EVACUATION_H

#include "cmd/guest.h"
#include "cmd/outcome.h"

/* What all VMs are to leave, and where to. */
struct leaving {
	unsigned int node;
	bool to[NODES_MAX], has_to;	/* else Xen's free memory decides, where a VM has no other home nodes */
	struct nodes nodes;
	const struct options *options;
};

struct evacuation {
	struct outcome outcome;
	uint64_t was, left;		/* bytes on the node */
	bool has_left;			/* it was tried, and looked at again */
	uint32_t node;
	uint32_t home[NODES_MAX];	/* weights, from then on; of policy none: where it goes */
	bool homes_changed;
	char why[256];
};

/* False: the VM has nothing there, has gone away, or has no memory that Xen could tell of. */
bool evacuate_one(struct evacuation *evacuation, const struct leaving *leaving);

#endif
