/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/hold-time.c does, one after the other; and where. */
#ifndef BARE_HOLD_TIME_H
#define BARE_HOLD_TIME_H

#include "mailbox.h"

/*
 * Its kind, and what it is.  Each vCPU does it with memory of its own.  Eight do less each: they flush each other's TLBs, for which an
 * emulator with fewer CPUs takes long.
 */
#define STEPS(STEP) \
	STEP(POPULATE_ONE_4K, "populate: 4 KiB, and tables") \
	STEP(POPULATE_4K, "populate: many times 4 KiB") \
	STEP(DECREASE_4K, "give back: many times 4 KiB") \
	STEP(POPULATE_1M, "populate: 1 MiB") \
	STEP(DECREASE_1M, "give back: 1 MiB") \
	STEP(POPULATE_2M, "populate: many times 2 MiB") \
	STEP(TOUCH_2M, "touch: each 2 MiB") \
	STEP(POPULATE_OVER_2M, "populate: 2 MiB over 2 MiB") \
	STEP(DECREASE_DIVIDING, "give back: a page of each 2 MiB") \
	STEP(DECREASE_2M, "give back: 2 MiB") \
	STEP(POPULATE_AGAIN, "populate: many times 2 MiB, elsewhere") \
	STEP(TOUCH_AGAIN, "touch: each 2 MiB of these") \
	STEP(EVENTS_4K, "give back: 1024 events of pages") \
	STEP(TOUCH_4K, "touch: 1024 times 4 KiB") \
	STEP(EVENTS_2M, "give back: events of 2 MiB that are pages") \
	STEP(ARGUMENT, "touch: 2 MiB, by a hypercall's argument") \
	STEP(EVENTS_SPLIT, "give back: 16 hints that 2 MiB are divided") \
	STEP(TOUCH_SPLIT, "touch: what was divided, and the rest") \
	STEP(EVENTS_1G, "give back: an event of 1 GiB") \
	STEP(TOUCH_1G, "touch: each 2 MiB, after that") \
	STEP(REMOVE, "remap: remove a page of each 2 MiB") \
	STEP(ADD, "remap: move pages to another place") \
	STEP(POPULATE_OVER_4K, "populate: 2 MiB over pages") \
	STEP(EXCHANGE, "exchange: 2 MiB")

#define STEP_INDEX(constant, text) constant,
enum { STEPS(STEP_INDEX) NR_STEPS };

#define LIST_GFN 0x200UL		/* two pages a vCPU */
#define TABLE_GFN (LIST_GFN + 2 * GUEST_MOST_CPUS)	/* for the second GiB, where all else is */
#define OWN_GFN PAGES_1G
#define MOST_ROUNDS 3UL
#define POD_GFN (PAGES_1G + (PAGES_1G >> 1))
#define POD_LARGE 8UL			/* populated on demand, where there is no first-touch: a vCPU */

/* mailbox->values, before it begins; after each step there is what each vCPU got */
enum { CPUS, ROUNDS, HAS_POD };

#endif
