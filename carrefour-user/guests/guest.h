/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A domain that has Carrefour or auto on, and all that the daemon knows of it. Plain types.
 *
 * Who writes what, in the order of a period; all others only read:
 *
 *	switches, gone			guests.c, as xenstore says; gone also daemon/sampling.c, if Xen has no such domain
 *	sampling to room		daemon/sampling.c
 *	period, in, policy, vcpu_*	daemon/period.c, when it looks
 *	domain, out			daemon/period.c, when it decides; guest.c forgets the domain
 *	history, metrics		daemon/period.c, when it tells; daemon/apply.c what has followed
 *	auto_state to auto_error	daemon/apply.c; guest.c begins them anew when auto is switched
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/auto.h"
#include "decide/follow.h"
#include "guests/history.h"
#include "guests/metrics.h"
#include "process/log.h"
#include "store/switches.h"
#include "xen/ring.h"
#include "xen/xen.h"

enum sampling {
	SAMPLING_NOT_YET,
	SAMPLING_RUNS,
	SAMPLING_TAKEN,		/* by somebody else; tried again each period */
	SAMPLING_REFUSED,	/* for the reason in .error; tried again from time to time */
};

struct guest {
	struct switches switches;
	bool gone;			/* it, or the switches: to be dropped */

	enum sampling sampling;
	int error;			/* an errno */
	uint64_t retry_at;
	bool ending;			/* Xen may not be done with the end of it yet */
	struct xen_ring mapping;
	struct ring ring;
	struct ring_faults faults;	/* of the period */
	bool looked;			/* there are counters of this period */
	struct counters counters;	/* as of now */
	struct counters seen;		/* ... and at the end of the last period */
	struct sample *sample;		/* that were read since */
	size_t nr_samples, room;

	struct domain *domain;		/* NULL: Carrefour is off */
	struct counters period;		/* the difference */
	struct input in;
	struct outcome out;
	struct xen_policy policy;
	uint8_t *vcpu_node;
	unsigned int nr_vcpus;

	struct auto_state auto_state;
	struct advice advice;
	bool advised, applied;		/* there is an advice; it was done, or had been before */
	struct follow follow;
	int auto_error;			/* that was said, of setting the policy or of memory that follows */

	struct domain_metrics metrics;
	struct history history;
};

struct guest *guest_new(const struct switches *switches);
/* What Xen has of it is the caller's affair. */
void guest_free(struct guest *guest);
/* What has changed in xenstore. */
void guest_update(struct guest *guest, const struct switches *switches);

/* Its memory is to follow the policy, from the beginning; what Carrefour knows of its pages is of no use then. */
void guest_follow(struct guest *guest);

/* A line about it. */
void guest_log(const struct guest *guest, enum level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
