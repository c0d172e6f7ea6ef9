/* SPDX-License-Identifier: GPL-2.0-only */
/* What time it is. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* By the clock that never goes back. */
uint64_t clock_ns(void);
/* Since 1970: for people and other machines, never to reckon with. */
uint64_t clock_wall_ns(void);

#endif
