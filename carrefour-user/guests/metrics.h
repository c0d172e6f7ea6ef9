/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics as a Prometheus text file, for node_exporter's textfile collector. A reader finds the
 * old file or the new one, never a part of one.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "decide/decide.h"
#include "xen/result.h"

/* Counters grow for as long as the daemon sees the domain. */
struct domain_metrics {
	const char *name;	/* any bytes */
	unsigned int id;
	bool known;		/* ... the last period; else nothing is said of it */
	struct verdict last;
	uint64_t periods, samples, moves, bytes, frozen, backoffs, strange, untracked, held[NR_HELD];
	/* Of the daemon only; it counts them itself. */
	uint64_t results[NR_RESULTS];
	uint64_t dropped;		/* samples that found the ring full */
	uint64_t lost;			/* samples that the ring had, and that could not be read or kept */
	uint64_t sampling_ns, guest_ns;	/* spent by Xen; for which the vCPUs ran */
};

void metrics_count(struct domain_metrics *metrics, const struct verdict *verdict);

/* Whether it could be written there, as far as can be told; an empty path can. False: one line in @error. */
bool metrics_possible(const char *path, char *error, size_t size);
void metrics_print(FILE *to, const struct domain_metrics *domain, unsigned int nr);
/* False: errno says why, and the file that was there is there. One that is no regular file is never replaced. */
bool metrics_write(const char *path, const struct domain_metrics *domain, unsigned int nr);

#endif
