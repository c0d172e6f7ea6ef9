/* SPDX-License-Identifier: GPL-2.0-only */
/* TLBs and walk caches of machines: README.md has the sources. */
#include <string.h>

#include "translation.h"

static const struct translation known[] = {
	{
		.name = "amd48",
		.l1 = { { { 1, 48 } }, { 0, 0, 0 } },
		.l2 = { { { 128, 4 }, { 64, 2 }, { 2, 8 } }, { 0, 1, 2 } },
		.l2_hit = 5,
		.walk_cache = 24,
		.nested_tlb = 16,
	}, {
		.name = "xeon",
		.l1 = { { { 16, 6 }, { 8, 4 }, { 1, 8 } }, { 0, 1, 2 } },
		.l2 = { { { 128, 16 } }, { 0, 0, 0 } },
		.l2_hit = 7,
		.walk_cache = 32,
		.by_walked_address = true,
	},
};

const struct translation *translation_of(const char *machine)
{
	for (const struct translation *t = known; t < known + sizeof(known) / sizeof(*known); t++)
		if (!strcmp(t->name, machine))
			return t;
	return NULL;
}
