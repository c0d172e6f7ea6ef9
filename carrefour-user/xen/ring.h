/* SPDX-License-Identifier: MIT */
/*
 * Takes samples out of a mapped ring (public/domctl.h, struct xen_numa_sample_ring). Knows no
 * library of Xen, and trusts nothing that is in the mapping: what is read there bounds nothing.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/sample.h"

#define RING_PAGE 4096
#define RING_VERSION 1
#define RING_PER_PAGE (RING_PAGE / sizeof(struct ring_sample))
#define RING_PAGES_MAX 257

/* As Xen has them; xen/sampling.c checks that. */
struct ring_header {
	uint32_t version, size, prod, cons;
	uint64_t dropped;
};

struct ring_sample {
	uint64_t gfn;
	uint16_t vcpu;
	uint8_t order, node, home, flags;
	uint16_t pad;
};

struct ring {
	struct ring_header *header;
	const struct ring_sample *sample;
	uint32_t size, cons;	/* what counts; the header's are for Xen to read */
};

/* What reading has found that nobody should write. */
struct ring_faults {
	uint64_t lost;		/* samples that were overwritten, or never were there */
	uint64_t bad;		/* samples with bits that mean nothing */
};

/* @bytes were mapped at @base. False: that is no ring; @why says so, and lives for ever. */
bool ring_open(struct ring *ring, void *base, size_t bytes, const char **why);

/* At most @max samples to @to; what is left is there the next time. Returns how many; adds to *faults. */
size_t ring_read(struct ring *ring, struct sample *to, size_t max, struct ring_faults *faults);

#endif
