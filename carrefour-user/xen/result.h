/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of a page that was to move. */
#ifndef RESULT_H
#define RESULT_H

/* XEN_NUMA_MOVE_*, which xen/domain.c checks. */
enum result {
	RESULT_DONE, RESULT_THERE, RESULT_NO_PAGE, RESULT_BUSY, RESULT_UNMOVABLE, RESULT_NO_ROOM, RESULT_LATE,
	RESULT_NO_TABLE, RESULT_CLAIMED,
	RESULT_NOT_TRIED,	/* the list ended before it: an error, or the daemon */
	NR_RESULTS
};

/* Of metrics and documents; NULL: there is no such number. */
const char *result_name(unsigned int result);

#endif
