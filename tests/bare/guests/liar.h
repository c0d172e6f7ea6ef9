/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs/liar.c and its guest have in common. */
#ifndef BARE_LIAR_H
#define BARE_LIAR_H

#define ARENA_GFN 0x400UL
#define ARENA_PAGES 0x800UL

enum { FLOODED = 1, TALKED, LIES };				/* states */
enum { BATCHES, SEED, TOLD, REFUSED };				/* values */

#endif
