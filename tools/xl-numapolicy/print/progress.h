/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far it is: a bar on a terminal's stderr, a line now and then on another
 * stderr, or objects on stdout for programs.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "print/output.h"

enum progress_form { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_LINES, PROGRESS_JSON };

struct progress {
	enum progress_form form;
	const char *verb;	/* of what moves */
	const char *name;	/* of whose memory it is; NULL: it has none */
	const char *whose;	/* the same for people, who need not be told (NULL) of the one that they have named */
	uint64_t total;		/* bytes to look at */
	uint64_t shown;		/* when, in ns since the begin */
	size_t width;		/* of the bar on the screen */
};

void progress_begin(struct progress *progress, enum format format, bool quiet,
		    bool dry_run, uint64_t total);
/* Shows it if it is time to; elapsed is in ns. */
void progress_show(struct progress *progress, const struct moves *moves,
		   uint64_t elapsed);
/* Leaves the screen as it was. */
void progress_end(struct progress *progress);

/* How much of all memory was looked at: rounded down, 1000 is all of it. */
unsigned int permille_seen(const struct moves *moves, uint64_t total);

#endif
