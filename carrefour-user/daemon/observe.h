/* SPDX-License-Identifier: GPL-2.0-only */
/* What Xen has seen of a guest in the period. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "guests/daemon.h"

void observe(struct daemon *daemon, struct guest *guest);

#endif
