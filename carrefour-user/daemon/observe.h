/* SPDX-License-Identifier: GPL-2.0-only */
/* What Xen has seen of a guest in the period. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "guests/daemon.h"

void observe(struct daemon *daemon, struct guest *guest);
/* Nothing was asked: of no guest anything is known of this period. */
void observe_nothing(struct daemon *daemon);

#endif
