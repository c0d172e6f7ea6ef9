/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/pod-zero.c touches: blocks of 2 MiB, in the order of their gfns. */
#ifndef BARE_POD_ZERO_H
#define BARE_POD_ZERO_H

#include "mailbox.h"

#define POD_GFN 0x800UL
#define ZERO_BLOCKS 8UL			/* less than those of which Xen remembers that they were populated last */
#define FULL_BLOCKS 48UL
#define LATE_BLOCK 0UL			/* as many as are zero, for which there are no other pages */
#define ZERO_BLOCK ZERO_BLOCKS
#define FULL_BLOCK (2 * ZERO_BLOCKS)	/* where Xen begins to look for pages that are zero */
#define POD_BLOCKS (FULL_BLOCK + FULL_BLOCKS)
#define POD_TARGET ((POD_BLOCKS - ZERO_BLOCKS) << 9)

#endif
