/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of one CPU that knows tags, not what belongs to them; of each set, the least recently used goes first. */
#ifndef NUMASIM_TAGS_H
#define NUMASIM_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#define NO_TAG UINT64_MAX

struct tags {
	unsigned int ways;
	uint64_t set_mask;
	uint64_t entry[];	/* sets x ways, most recent first */
};

struct tags *tags_new(unsigned int sets, unsigned int ways);
void tags_empty(struct tags *tags);
/* Is the tag there?  Then it is the most recent from now on.  `index` says the set, by its lowest bits. */
bool tags_find(struct tags *tags, uint64_t index, uint64_t tag);
/* Puts a tag in that is not there. */
void tags_put(struct tags *tags, uint64_t index, uint64_t tag);

#endif
