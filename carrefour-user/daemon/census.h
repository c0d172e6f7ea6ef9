/* SPDX-License-Identifier: GPL-2.0-only */
/* What metrics and heal say of every domain of the host is asked of Xen. */
#ifndef CENSUS_H
#define CENSUS_H

#include "guests/daemon.h"

/* Which domains there are, their names, policies, memory and moves. */
void census_look(struct daemon *daemon);

#endif
