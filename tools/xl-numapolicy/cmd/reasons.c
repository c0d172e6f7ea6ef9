/* SPDX-License-Identifier: GPL-2.0-only */
/* Why memory stays where it is, in the words of a cell. */
#include <stdio.h>

#include "ask/connection.h"
#include "cmd/outcome.h"

const char *main_reason(const struct moves *moves)
{
	const struct {
		uint64_t pages;
		const char *why;
	} reasons[] = {
		{ moves->in_use, "in use by others" }, { moves->unmovable, "not plain memory" },
		{ moves->no_room, "its node is full" }, { moves->late, "--max-pause-us is too small" },
		{ moves->no_table, "no page for page tables" }, { moves->claimed, "claimed by a VM that is being built" },
	};
	unsigned int i, most = 0;

	for (i = 1; i < NR(reasons); i++)
		if (reasons[i].pages > reasons[most].pages)
			most = i;
	return reasons[most].pages ? reasons[most].why : NULL;
}

const char *refusal(enum result result)
{
	static char text[256];

	switch (result) {
	case RESULT_NO_POLICY:
		return "policy none has no place for it";
	case RESULT_HAS_DEVICE:
		return "devices are or may be assigned to it";
	case RESULT_REFUSED:
		return "it has shadow paging, altp2m, nested guests, memory sharing or memory paging";
	default:
		snprintf(text, sizeof(text), "%s", *backend_reason() ? backend_reason() : "Xen has failed");
		return text;
	}
}
