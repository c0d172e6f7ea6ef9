/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/pod-migrate.c touches, and what stands there. */
#ifndef BARE_POD_MIGRATE_H
#define BARE_POD_MIGRATE_H

#include "mailbox.h"

#define POD_GFN 0x800UL			/* by 2 MiB from there on */
#define POD_BLOCKS 2UL			/* that are populated on demand, with pages for one of them */
#define POD_PAGES (POD_BLOCKS << 9)
#define POD_TARGET (POD_PAGES / 2)
#define WORD 0x5eedUL			/* in the first page, until it is zero again */
#define OTHERS 64UL			/* pages that are touched then: Xen looks at the last 32 */

#endif
