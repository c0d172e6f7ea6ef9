/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs/campaign.c and its guests have in common: in the page of the mailbox. */
#ifndef BARE_CAMPAIGN_H
#define BARE_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "mailbox.h"

#define ARENA_GFN 0x400UL		/* what the calls are about; for a victim, its words */
#define ARENA_PAGES 0x1000UL
#define VICTIM_PAGES 0xc00UL

/* What the hostile guest does; all but the last are hypercalls. */
#define CALLS(CALL) \
	CALL(POPULATE, "populate_physmap") \
	CALL(INCREASE, "increase_reservation") \
	CALL(DECREASE, "decrease_reservation") \
	CALL(EXCHANGE, "exchange") \
	CALL(ADD, "add_to_physmap") \
	CALL(ADD_BATCH, "add_to_physmap_batch") \
	CALL(REMOVE, "remove_from_physmap") \
	CALL(EVENTS, "page_events") \
	CALL(SPLIT, "page_events, split") \
	CALL(GARBAGE_EVENTS, "page_events, garbage") \
	CALL(GRANT_MAP, "map_grant_ref") \
	CALL(GRANT_UNMAP, "unmap_grant_ref") \
	CALL(GRANT_COPY, "grant copy") \
	CALL(GRANT_VERSION, "grant set_version") \
	CALL(SET_PARAM, "HVMOP_set_param") \
	CALL(ALTP2M, "HVMOP_altp2m") \
	CALL(TOUCH, "touch")

#define CALL_INDEX(index, name) CALL_##index,
enum { CALLS(CALL_INDEX) NR_CALLS };

struct count {
	uint64_t accepted, refused;
	uint64_t cycles, longest;	/* of all, of one; in them is what others had the CPU for */
};

static inline uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline void count_one(struct count *count, bool accepted, uint64_t took)
{
	if (accepted)
		count->accepted++;
	else
		count->refused++;
	count->cycles += took;
	if (took > count->longest)
		count->longest = took;
}

struct campaign {
	struct mailbox mailbox;
	/* IN */
	uint64_t seed;
	uint64_t domid;
	uint64_t bits;			/* of a gfn */
	/* OUT, of the hostile guest */
	struct count counts[GUEST_CPUS][NR_CALLS];
	/* OUT, of a victim */
	uint64_t passes;		/* over all its words */
	uint64_t wrong;			/* words */
	uint64_t longest;		/* cycles that it has waited at a time */
};

_Static_assert(sizeof(struct campaign) <= 4096, "the mailbox has a page");

#endif
