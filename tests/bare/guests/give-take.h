/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/give-take.c gives back and takes again: every second page is a vCPU's own. */
#ifndef BARE_GIVE_TAKE_H
#define BARE_GIVE_TAKE_H

#include "mailbox.h"

#define TAKEN_GFN (4 * 512UL)
#define TAKEN_PAGES (2 * 512UL)

/* mailbox->values; those of two are a vCPU's */
enum { SEED, GIVEN, RELEASED = GIVEN + GUEST_CPUS, WRONG_WORDS = RELEASED + GUEST_CPUS };

#endif
