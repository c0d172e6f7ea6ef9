/* SPDX-License-Identifier: GPL-2.0-only */
#include <stddef.h>

#include "xen/result.h"

static const char *const results[NR_RESULTS] = {
	[RESULT_DONE] = "moved", [RESULT_THERE] = "there", [RESULT_NO_PAGE] = "no-page", [RESULT_BUSY] = "in-use",
	[RESULT_UNMOVABLE] = "unmovable", [RESULT_NO_ROOM] = "no-room", [RESULT_LATE] = "late",
	[RESULT_NO_TABLE] = "no-table", [RESULT_CLAIMED] = "claimed", [RESULT_NOT_TRIED] = "not-tried",
};

const char *result_name(unsigned int result)
{
	return result < NR_RESULTS ? results[result] : NULL;
}
