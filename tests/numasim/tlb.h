/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one CPU remembers of translations, and which entries of page tables it reads when it does not.
 *
 * All is tagged with the address space, as with ASIDs and PCIDs, and what a guest or Xen flushes is not seen: a table is read
 * anew at each walk, so an old translation can only make a hit of what would be a miss.
 */
#ifndef NUMASIM_TLB_H
#define NUMASIM_TLB_H

#include "tags.h"
#include "walk.h"

#define SPACES 256u
/* four levels, each to be translated by four, and those of the page itself */
#define MAX_REFERENCES (LEVELS * (LEVELS + 1) + LEVELS)

struct tlb {
	const struct translation *shape;
	const struct memory *memory;
	uint64_t recent, recent_mask;		/* the page that was translated last, if the address space is the same */
	struct paging now;
	unsigned int space, nested_space;	/* numbers of address spaces */
	unsigned int spaces;
	struct paging known[SPACES];
	bool seen[PAGE_SIZES];
	struct tags *l1[TLBS], *l2[TLBS], *walk_cache, *nested_tlb;
	unsigned int references;		/* of the last walk, what the walk caches did not have */
	uint64_t reference[MAX_REFERENCES];
};

enum translated { IN_L1, IN_L2, WALKED, LOST };	/* LOST: the tables lead nowhere */

struct tlb *tlb_new(const struct translation *shape, const struct memory *memory);
void tlb_free(struct tlb *tlb);
void tlb_empty(struct tlb *tlb);

/* What tlb_is_recent() did not settle. */
enum translated tlb_translate(struct tlb *tlb, const struct paging *now, uint64_t address);

/* Is it on the page that was translated last?  Then nothing would change. */
static inline bool tlb_is_recent(const struct tlb *tlb, uint64_t root, uint64_t nested_root, uint64_t address)
{
	return (address & tlb->recent_mask) == tlb->recent && tlb->now.root == root && tlb->now.nested_root == nested_root;
}

#endif
