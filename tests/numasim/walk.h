/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways through page tables as hardware goes them: each entry that it reads, in order, by its machine address.
 *
 * Tables of long mode with four levels; under nested paging those of the guest, whose addresses are the guest's, and those of
 * the hypervisor, which map them.  Permissions are nobody's business here: the access was made.
 */
#ifndef NUMASIM_WALK_H
#define NUMASIM_WALK_H

#include "memory.h"
#include "translation.h"

#define LEVELS 4
#define NOT_NESTED 0
#define NO_TABLE 0		/* none that is walked here: a walk of it is lost */
#define FRAME UINT64_C(0x000ffffffffff000)

/* How a CPU translates now. */
struct paging {
	bool paged;			/* does the program have a table? */
	uint64_t root, nested_root;	/* the program's, by address of the guest if nested; the hypervisor's, or NOT_NESTED */
};

/* Through one table, the top first. */
struct path {
	unsigned int entries;
	uint64_t entry[LEVELS];		/* where it is, by machine address */
	uint64_t address;		/* what was looked up */
	uint64_t found;
	enum page_size size;
};

/* Through all of them. */
struct walk {
	unsigned int entries;		/* of the program's table */
	uint64_t entry[LEVELS];
	struct path where[LEVELS];	/* how the machine address of each was found */
	struct path last;		/* and that of what is accessed */
	enum page_size size;		/* the smaller one of both tables' */
};

/* False: these tables lead nowhere. */
bool walk(const struct memory *memory, const struct paging *paging, uint64_t address, struct walk *walk);

/* How many bits of an address the entries of a path from `level` (0 is the top) on still have to translate. */
static inline unsigned int level_shift(unsigned int level)
{
	return 12 + 9 * (LEVELS - 1 - level);
}

#endif
