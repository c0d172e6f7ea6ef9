/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of tags. */
#include <glib.h>
#include <string.h>

#include "tags.h"

static uint64_t *set_of(struct tags *tags, uint64_t index)
{
	return &tags->entry[(index & tags->set_mask) * tags->ways];
}

struct tags *tags_new(unsigned int sets, unsigned int ways)
{
	struct tags *tags = g_malloc(sizeof(*tags) + sizeof(uint64_t) * sets * ways);

	tags->ways = ways;
	tags->set_mask = sets - 1;
	tags_empty(tags);
	return tags;
}

void tags_empty(struct tags *tags)
{
	memset(tags->entry, 0xff, sizeof(uint64_t) * (tags->set_mask + 1) * tags->ways);
}

bool tags_find(struct tags *tags, uint64_t index, uint64_t tag)
{
	uint64_t *entry = set_of(tags, index);
	unsigned int way = 0;

	/* what is not there moves nothing */
	while (way < tags->ways && entry[way] != tag)
		way++;
	if (way == tags->ways)
		return false;
	memmove(entry + 1, entry, way * sizeof(*entry));
	entry[0] = tag;
	return true;
}

void tags_put(struct tags *tags, uint64_t index, uint64_t tag)
{
	uint64_t *entry = set_of(tags, index);

	memmove(entry + 1, entry, (tags->ways - 1) * sizeof(*entry));
	entry[0] = tag;
}
