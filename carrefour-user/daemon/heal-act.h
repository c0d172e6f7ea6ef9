/* SPDX-License-Identifier: GPL-2.0-only */
/* Carries out what heal has decided, one VM at a time. What is begun may stop at any point: the next look finds what there is. */
#ifndef DAEMON_HEAL_ACT_H
#define DAEMON_HEAL_ACT_H

#include "guests/daemon.h"

/* All actions of the plan; there are no other tasks. @nodes: those that have CPUs. */
void heal_act_begin(struct daemon *daemon, const struct heal_host *host, const struct heal_plan *plan, uint64_t nodes);
/* In each period: goes on, for a part of it. If heal is not on any more, what is left is given up. */
void heal_act(struct daemon *daemon);

#endif
