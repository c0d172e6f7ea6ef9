/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted, for metrics and documents: they grow for as long as the daemon sees the domain, or lives. */
#ifndef GUESTS_METRICS_H
#define GUESTS_METRICS_H

#include <stdbool.h>

#include "decide/decide.h"
#include "xen/result.h"

struct domain_metrics {
	bool known;		/* ... the last period; else nothing is said of it */
	struct verdict last;
	uint64_t periods, samples, moves, bytes, frozen, backoffs, strange, untracked, held[NR_HELD];
	/* Of the daemon only; it counts them itself. */
	uint64_t results[NR_RESULTS];
	uint64_t dropped;		/* samples that found the ring full */
	uint64_t lost;			/* samples that the ring had, and that could not be read or kept */
	uint64_t sampling_ns, guest_ns;	/* spent by Xen; for which the vCPUs ran */
};

/* Of the daemon itself. */
struct daemon_metrics {
	uint64_t periods, late, period_ns;	/* how many, those longer than they should be, and how long in all */
	uint64_t begun_at, ended_at;		/* it, and the last period; since 1970 */
	bool reload_failed;			/* the last time */
};

void metrics_count(struct domain_metrics *metrics, const struct verdict *verdict);

#endif
