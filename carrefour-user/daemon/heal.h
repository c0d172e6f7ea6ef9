/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole host is looked at for heal; what it would do is told, and done if it is on. */
#ifndef DAEMON_HEAL_H
#define DAEMON_HEAL_H

#include "guests/daemon.h"

/* Counting a domain's memory takes a minute at best: daemon/census.h. */
#define HEAL_NS (60000 * MS)

/* Whether it is time; if it was switched off, what was seen is forgotten. */
bool heal_due(struct daemon *daemon);
/* After the census has looked. */
void heal_look(struct daemon *daemon);

#endif
