/* SPDX-License-Identifier: GPL-2.0-only */
/* The last decisions about a domain, for `explain`. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>

#include "decide/decide.h"
#include "xen/result.h"

#define HISTORY_SIZE 64

struct event {
	struct decision decision;
	uint64_t period;	/* of the daemon */
	uint64_t ns;		/* by its clock */
	enum result result;	/* of a freeze: RESULT_NOT_TRIED */
};

struct history {
	struct event event[HISTORY_SIZE];
	uint64_t nr;		/* ever */
};

void history_add(struct history *history, const struct event *event);
/* The @i-th of those that are kept, the newest is 0; NULL: there are no more. */
const struct event *history_get(const struct history *history, unsigned int i);

#endif
