/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A domain that has Carrefour or auto on, and all that the daemon knows of it. Plain types.
 *
 * Who writes what; all others only read:
 *
 *	switches, gone			guests.c, as xenstore says; daemon/sampling.c gone, if Xen has no such domain
 *	sampling to room		daemon/sampling.c
 *	most				daemon/period.c
 *	looked to nr_vcpus		daemon/observe.c; period also daemon/sampling.c, which reads into it
 *	domain to calm			daemon/period.c; guest.c forgets the domain
 *	history, metrics		daemon/tell.c; metrics also daemon/observe.c, what Xen has counted
 *	auto_state to changed_under		daemon/apply.c; guest.c begins them anew when auto is switched
 *	follow				daemon/follow-memory.c; guest.c begins and ends it
 *	said				whoever says it
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
	NR_SAMPLINGS
};

/* Of metrics and documents. */
const char *sampling_name(enum sampling sampling);

/* Errors that last, and are said once. */
enum topic {
	TOPIC_POLICY, TOPIC_COUNTERS, TOPIC_LOST, TOPIC_MEMORY, TOPIC_MOVES, TOPIC_AUTO, TOPIC_FOLLOW, TOPIC_STATE, NR_TOPICS
};

struct said {
	int error;		/* an errno, or another number that is not 0 */
	bool over;		/* it has gone since */
	uint64_t at;
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
	struct counters seen;		/* as of the last period; its matrix: NULL if there is no memory for this guest */
	struct sample *sample;		/* that were read since the last period */
	size_t nr_samples, room;
	size_t most;			/* samples that there may be */

	bool looked;			/* there are counters of this period */
	struct counters period;		/* ... what came in it */
	struct input in;
	struct xen_policy policy;
	uint8_t *vcpu_node;
	uint64_t vcpus_at;		/* the period in which they are asked for again */
	unsigned int nr_vcpus;

	struct domain *domain;		/* NULL: Carrefour is off */
	bool shrunk;			/* ... its table, since it was looked at last */
	struct outcome out;
	unsigned int calm;		/* periods at rest, in a row */

	struct domain_metrics metrics;
	struct history history;

	struct auto_state auto_state;
	struct advice advice;
	bool advised, applied;		/* there is an advice; it was done, or had been before */
	bool carrefour_was;		/* when there was a reason for it */
	bool changing;			/* it is not done, and is for another class: */
	struct auto_state changed_from;	/* than this one had */
	struct xen_policy changed_under;	/* found under it, or auto's own since */
	struct follow follow;

	struct said said[NR_TOPICS];
};

struct guest *guest_new(const struct switches *switches);
/* What Xen has of it is the caller's affair. */
void guest_free(struct guest *guest);
/* What has changed in xenstore. */
void guest_update(struct guest *guest, const struct switches *switches);

/* Its memory is to follow the policy, from the beginning; what Carrefour knows of its pages is of no use then. */
void guest_follow(struct guest *guest);

/* It has done so little for so long that it needs no more than the least memory. */
bool guest_is_at_rest(const struct guest *guest);

/* Room for counters, without which it is not sampled. False: out of memory. */
bool guest_open(struct guest *guest, unsigned int nr_nodes);
/* Gives it back, and the samples. */
void guest_close(struct guest *guest);
/* What Carrefour knows of its pages. */
void guest_forget(struct guest *guest);
size_t guest_bytes(const struct guest *guest, unsigned int nr_nodes);

/*
 * Whether @error is to be said now: it is another one than was said, or came again, and not within a minute. 0: there is
 * none any more.
 */
bool guest_says(struct guest *guest, enum topic topic, int error, uint64_t now);
/* A line about it. */
void guest_log(const struct guest *guest, enum level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
