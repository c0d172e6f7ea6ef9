/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every domain of the host, watched or not, and what Xen said of it last: for metrics. Knows nothing of Xen's calls;
 * daemon/census.c asks, and writes all of it.
 */
#ifndef HOSTED_H
#define HOSTED_H

#include <stdbool.h>
#include <stdint.h>

#include "store/switches.h"
#include "xen/xen.h"

#define UUID_SIZE 37

struct hosted {
	struct xen_domain xen;
	char uuid[UUID_SIZE];		/* as text */
	char name[NAME_SIZE];
	bool named;			/* by xenstore, once; else it is called by its number */
	uint64_t named_at;		/* when it was asked for last */
	bool twin;			/* a newer domain has the same name and UUID: a collector takes only one */
	bool has_policy, has_memory, has_moves;
	struct xen_policy policy;
	uint64_t moves[NR_RESULTS];	/* pages */
	uint64_t bytes[NODES_MAX];
};

struct census {
	struct hosted *hosted;		/* by id */
	unsigned int nr;
	bool known;			/* Xen has told which there are; else nothing is to be said of them */
	int error;			/* that was said */
};

/* Which there are now. False: out of memory, and all is as it was. */
bool hosted_sync(struct census *census, const struct xen_domain *domain, unsigned int nr);
/* Finds those of one name and one UUID. */
void hosted_find_twins(struct census *census);
void hosted_free(struct census *census);

#endif
