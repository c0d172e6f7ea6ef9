/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/pod.c touches, and what stands there. */
#ifndef BARE_POD_H
#define BARE_POD_H

#include "mailbox.h"

#define POD_GFN 0x800UL			/* by 2 MiB from there on */
#define POD_BLOCKS 8UL			/* that are populated on demand */
#define POD_PAGES (POD_BLOCKS << 9)
#define POD_TARGET (POD_PAGES / 2)	/* pages that there are for them */

/* In the mailbox. */
enum { NOT_ZERO, WRONG_WORDS };

#endif
