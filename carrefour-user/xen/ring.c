/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a ring. Each sample is copied once and judged by the copy. */
#include <string.h>

#include "xen/ring.h"

bool ring_open(struct ring *r, void *base, size_t bytes, const char **why)
{
	size_t pages = bytes / RING_PAGE;
	uint32_t size = (pages - 1) * RING_PER_PAGE;
	struct ring_header header;

	if (bytes % RING_PAGE || pages < 2 || pages > RING_PAGES_MAX || (size & (size - 1))) {
		*why = "its size is none of a ring";
		return false;
	}
	memcpy(&header, base, sizeof(header));
	if (header.version != RING_VERSION) {
		*why = "its version is not known here";
		return false;
	}
	if (header.size != size) {
		*why = "it says that it has another size";
		return false;
	}
	*r = (struct ring){
		.header = base, .sample = (const void *)((const char *)base + RING_PAGE), .size = size, .cons = header.cons,
	};
	/* Who had it mapped before may have left anything; too far behind is sorted out by reading. */
	return true;
}

/* The bits of flags are Xen's; those that are used here are the same. */
static bool take(const struct ring_sample *from, struct sample *to)
{
	struct ring_sample s;

	memcpy(&s, from, sizeof(s));
	*to = (struct sample){
		.gfn = s.gfn, .vcpu = s.vcpu, .order = s.order, .node = s.node, .home = s.home, .flags = s.flags,
	};
	return !s.pad && !(s.flags & ~SAMPLE_FLAGS);
}

size_t ring_read(struct ring *r, struct sample *to, size_t max, struct ring_faults *faults)
{
	uint32_t prod = __atomic_load_n(&r->header->prod, __ATOMIC_ACQUIRE), there = prod - r->cons;
	size_t nr = 0;

	/* Xen never puts in more than there is room for. What is there cannot be told from what is not. */
	if (there > r->size) {
		faults->lost += r->size;
		r->cons = prod;
		there = 0;
	}
	for (; there && nr < max; there--, r->cons++)
		if (take(&r->sample[r->cons & (r->size - 1)], &to[nr]))
			nr++;
		else
			faults->bad++;
	__atomic_store_n(&r->header->cons, r->cons, __ATOMIC_RELEASE);
	return nr;
}
