/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines whose numbers are known: README.md has the sources. */
#ifndef NUMASIM_PRESETS_H
#define NUMASIM_PRESETS_H

#include "machine.h"

struct preset {
	struct machine machine;		/* without nodes, CPUs and links */
	unsigned int nodes;		/* 0: any, and no links */
	double link;			/* GiB/s: of all links, and of one that is added if nothing is said */
	/* the class of latency of the link between two nodes; 0: there is none */
	unsigned int (*link_class)(int a, int b);
};

/* NULL: there is none of this name. */
const struct preset *preset_of(const char *name);

#endif
