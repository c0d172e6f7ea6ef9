/* SPDX-License-Identifier: GPL-2.0-only */
/* What metrics say of every domain of the host, and of its memory, is asked of Xen. */
#ifndef CENSUS_H
#define CENSUS_H

#include "guests/daemon.h"

/* Counting a domain's memory has Xen look at each entry of its p2m: of one at a time, and of each not more often than this. */
#define COUNT_NS (60000 * MS)

/* Which domains there are, their names, policies and moves. */
void census_look(struct daemon *daemon);
/* Counts memory, for a tenth of a period. */
void census_count(struct daemon *daemon);

#endif
