/* SPDX-License-Identifier: GPL-2.0-only */
/* What auto says of a period is done. */
#ifndef APPLY_H
#define APPLY_H

#include "guests/daemon.h"

void apply_advice(const struct daemon *daemon, struct guest *guest);

#endif
