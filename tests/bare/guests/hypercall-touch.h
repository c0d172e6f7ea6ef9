/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs/hypercall-touch.c and its guest have in common. */
#ifndef BARE_HYPERCALL_TOUCH_H
#define BARE_HYPERCALL_TOUCH_H

#define FIRST_GFN 0x400UL
#define EXTENTS 12UL		/* of 2 MiB */

/* By its number, what the second vCPU does with an extent while the first one's hypercall touches it. */
#define IS_WRITTEN(extent) ((extent) % 2)
#define IS_RELEASED(extent) ((extent) % 4 == 3)		/* before it is written */

enum { LOST, NOT_CLEARED, ANSWERS };			/* values */

#endif
