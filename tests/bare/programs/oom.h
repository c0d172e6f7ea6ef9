/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs/oom.c tries, of oom-operations.c. */
#ifndef BARE_OOM_H
#define BARE_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include <xen/xen.h>

/* The gfns that operations are about. */
#define FIELD (4 * 512UL)
#define FIELD_PAGES (4 * 512UL)

struct operation {
	const char *group, *name;
	unsigned int points;			/* that it has, at least */
	void (*prepare)(domid_t domid);
	/* An error, or 0: done as far as could be; NULL: a domain is created */
	long (*run)(domid_t domid);
	bool (*is_done)(domid_t domid);
	unsigned long pages;			/* that the domain has more */
	bool stamped;				/* its pages were written to */
	bool again;				/* it may succeed in part */
	bool by_guest;				/* the guest's own vCPU does it */
	bool unmapped;				/* stock Xen's code keeps what it cannot map */
	bool may_kill;				/* where nobody can get an error; -EPIPE */
};

/* The last one has no name. */
extern const struct operation operations[];

/* Writes to some pages of 2 MiB what is looked for later. */
void stamp(domid_t domid, unsigned long gfn);

#endif
