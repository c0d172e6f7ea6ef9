/* SPDX-License-Identifier: GPL-2.0-only */
/* What access sampling tells of one access: struct xen_numa_sample without its padding. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdint.h>

#include "common/units.h"

#define SAMPLE_WRITE 1U
#define SAMPLE_IBS 2U	/* else a hint fault */
#define SAMPLE_FLAGS (SAMPLE_WRITE | SAMPLE_IBS)

struct sample {
	uint64_t gfn;	/* the first page of the p2m entry */
	uint16_t vcpu;
	uint8_t order;	/* of the p2m entry */
	uint8_t node;	/* of the CPU that accessed it */
	uint8_t home;	/* of the page when it was accessed */
	uint8_t flags;
};

#endif
