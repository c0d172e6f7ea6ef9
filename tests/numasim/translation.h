/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU has to translate addresses with: TLBs and walk caches, of the machines that are known.  Constant. */
#ifndef NUMASIM_TRANSLATION_H
#define NUMASIM_TRANSLATION_H

#include <stdbool.h>
#include <stdint.h>

#define TLBS 3		/* tables, at most, that a level of TLB consists of */

enum page_size { PAGE_4K, PAGE_2M, PAGE_1G, PAGE_SIZES };

static inline unsigned int page_shift(enum page_size size)
{
	return 12 + 9 * size;
}

struct entries {
	unsigned int sets, ways;	/* sets are a power of two */
};

/* A level of TLB. */
struct tlb_shape {
	struct entries table[TLBS];
	int holds[PAGE_SIZES];		/* which of the tables holds pages of a size; NOWHERE: none does */
};
#define NOWHERE (-1)

struct translation {
	const char *name;
	struct tlb_shape l1, l2;
	double l2_hit;			/* cycles that a hit in the second level takes longer than one in the first */
	/*
	 * Entries of page tables that point to a table.  By the entry's own machine address, a walk finds each level for itself, and
	 * under nested paging has to translate where it is first.  By the address that is walked for, it begins below the deepest
	 * level that is there, and knows the machine address of that table.
	 */
	unsigned int walk_cache;
	bool by_walked_address;
	/* Guest's pages with page tables, translated; 0: there is none. */
	unsigned int nested_tlb;
};

/* NULL: there is no machine of this name. */
const struct translation *translation_of(const char *machine);

#endif
