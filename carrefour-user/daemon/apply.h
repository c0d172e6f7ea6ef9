/* SPDX-License-Identifier: GPL-2.0-only */
/* What auto says of a period is done. */
#ifndef APPLY_H
#define APPLY_H

#include "guests/daemon.h"

void choice_make(struct guest *guest, const struct config *config);
/* Of a guest in STATE_FOLLOWING: moves what may follow in this period, for a quarter of it at most. */
void choice_follow(struct daemon *daemon, struct guest *guest);

#endif
