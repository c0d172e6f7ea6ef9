/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of a guest follows the policy that auto has set. */
#ifndef FOLLOW_MEMORY_H
#define FOLLOW_MEMORY_H

#include "guests/daemon.h"

/* A quarter of a period, of all guests together, from now on. */
void follow_memory_begin(struct daemon *daemon);
/* Of a guest in STATE_FOLLOWING: moves what may follow in this period. */
void follow_memory(struct daemon *daemon, struct guest *guest);

#endif
