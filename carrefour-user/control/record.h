/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings that clients have asked for: traces (trace.h), written to files that the client has opened, by
 * its rights.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define RECORDINGS_MAX 8
#define RECORD_ALL (~0U)

struct recording;

/*
 * Of one domain, or of RECORD_ALL. @fd is taken, closed in any case. NULL: *why says why, and lives for
 * ever. Only regular files: a pipe that nobody reads would hold up all domains.
 */
struct recording *record_begin(int fd, unsigned int domid, const struct config *config, const struct host *host,
			       const char **why);

struct record_end {
	uint64_t periods, samples;
	int error;		/* an errno, if not all could be written */
	bool reconfigured;	/* it ended, as a trace has one configuration */
};

/* Nothing more will be written. */
bool record_is_over(const struct recording *recording);
/* Makes it a whole trace, if all could be written, and forgets it. */
struct record_end record_finish(struct recording *recording);

/*
 * A period of all domains. It takes its time: @between is called before each domain, and recordings may begin and end in it.
 * If it returns false, this period will not be whole, and is in no recording.
 */
void record_period(const struct trace_period *period, unsigned int nr_nodes, bool (*between)(void *with), void *with);
/* The configuration is another one now. */
void record_reconfigured(void);

bool record_any(void);

#endif
