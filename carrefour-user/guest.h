/* A domain that has Carrefour or auto on, and all that the daemon knows of it. Plain types. */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auto.h"
#include "follow.h"
#include "history.h"
#include "metrics.h"
#include "ring.h"
#include "xen.h"

#define NAME_SIZE 64

enum auto_mode { AUTO_OFF, AUTO_ADVISE, AUTO_ON, NR_AUTO_MODES };

const char *auto_mode_name(enum auto_mode mode);

/* What xenstore says of a domain. */
struct wish {
	unsigned int id;
	bool carrefour;
	enum auto_mode mode;
	enum auto_class class;	/* that auto had found before this daemon came */
	bool follows;		/* ... and memory had not gone where auto wanted it, yet */
	char name[NAME_SIZE];
};

enum sampling {
	SAMPLING_NOT_YET,
	SAMPLING_RUNS,
	SAMPLING_TAKEN,		/* by somebody else; tried again each period */
	SAMPLING_REFUSED,	/* for the reason in .error; tried again from time to time */
};

struct guest {
	struct wish wish;
	bool gone;			/* it, or the wish: to be dropped */

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

struct guest *guest_new(const struct wish *wish);
/* What Xen has of it is the caller's affair. */
void guest_free(struct guest *guest);
/* What has changed in xenstore. */
void guest_update(struct guest *guest, const struct wish *wish);

/* Its memory is to follow the policy, from the beginning; what Carrefour knows of its pages is of no use then. */
void guest_follow(struct guest *guest);

#endif
