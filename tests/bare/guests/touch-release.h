/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/touch-release.c touches: 2 MiB, and single pages behind them, of each vCPU. */
#ifndef BARE_TOUCH_RELEASE_H
#define BARE_TOUCH_RELEASE_H

#include "mailbox.h"

#define TOUCHES 3U
#define ORDER_2M 9
#define SINGLES 64UL
#define OWN_PAGES (512 + SINGLES)

static inline unsigned long own_gfn(unsigned long cpu)
{
	return (4 + 2 * cpu) * 512;
}

/* mailbox->values, of each vCPU */
enum { NOT_ZERO, REFUSED = GUEST_CPUS };

#endif
