/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What xenstore said of each domain, and what has changed since, by domain: of hundreds, one that changes costs no more than
 * one. Knows nothing of xenstore.
 */
#ifndef CACHE_H
#define CACHE_H

#include "store/switches.h"

#define DOMID_LIMIT 0x7ff0	/* DOMID_FIRST_RESERVED */

/* All may have changed; what is known stays until something else is. */
void cache_doubt(void);
/* The last copy is of no use; another one is to be taken. */
void cache_again(void);
/* Domains may have come or gone. */
void cache_list(void);
/* This one may have changed. */
void cache_mark(unsigned int id);

bool cache_is_doubtful(void);
bool cache_wants_list(void);

/* Those that are not named between the two are gone; those that are new are to be asked of. */
void cache_begin_list(void);
void cache_is_there(unsigned int id);
void cache_end_list(void);

/* The next one to be asked of, after *id; 0 to begin with. */
bool cache_next(unsigned int *id);
/* What was said of it; NULL: nothing is on. Without memory it is asked of again. */
void cache_set(unsigned int id, const struct switches *now);

/* The first of those that are known after @id; NULL: there are no more. Until anything else is called. */
const struct switches *cache_after(unsigned int id);

/* All that is known, malloc()ed, in the order of ids. False: out of memory, and it is as with cache_again(). */
bool cache_copy(struct switches **all, unsigned int *nr);

#endif
