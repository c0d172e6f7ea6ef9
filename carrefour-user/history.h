/* The last decisions about a domain, for `explain`. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>

#include "decide.h"

#define HISTORY_SIZE 64

/* What became of a page that was to move: XEN_NUMA_MOVE_*, which xen-domain.c checks. */
enum result {
	RESULT_DONE, RESULT_THERE, RESULT_NO_PAGE, RESULT_BUSY, RESULT_UNMOVABLE, RESULT_NO_ROOM, RESULT_LATE,
	RESULT_NOT_TRIED,	/* the list ended before it: an error, or the daemon */
	NR_RESULTS
};

/* Of metrics and documents; NULL: there is no such number. */
const char *result_name(unsigned int result);

struct past {
	struct decision decision;
	uint64_t period;	/* of the daemon */
	uint64_t ns;		/* by its clock */
	enum result result;	/* of a freeze: RESULT_NOT_TRIED */
};

struct history {
	struct past past[HISTORY_SIZE];
	uint64_t nr;		/* ever */
};

void history_add(struct history *history, const struct past *past);
/* The @i-th of those that are kept, the newest is 0; NULL: there are no more. */
const struct past *history_get(const struct history *history, unsigned int i);

#endif
