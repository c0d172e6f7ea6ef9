/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock that never goes back. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);

#endif
