/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whatever a period does, clients and signals are served within 100 ms, and no ring gets full: what takes its time calls
 * this between any two steps.
 */
#ifndef BREATHE_H
#define BREATHE_H

#include "guests/daemon.h"

#define SERVE_MS 50

/* False: the daemon is to end, and so is what calls it. */
bool breathe(struct daemon *daemon);

#endif
