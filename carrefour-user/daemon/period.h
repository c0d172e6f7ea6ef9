/* SPDX-License-Identifier: GPL-2.0-only */
/* A period, from looking to telling. */
#ifndef PERIOD_H
#define PERIOD_H

#include "guests/daemon.h"

void period_run(struct daemon *daemon);

#endif
