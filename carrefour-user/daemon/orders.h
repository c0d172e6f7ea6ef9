/* SPDX-License-Identifier: GPL-2.0-only */
/* What was decided is carried out. */
#ifndef ORDERS_H
#define ORDERS_H

#include "guests/daemon.h"

void orders_carry_out(struct daemon *daemon, struct guest *guest);

#endif
