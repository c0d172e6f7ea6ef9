/* SPDX-License-Identifier: GPL-2.0-only */
/* Access sampling: begin, map, ask, end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

#include "xen/ring.h"
#include "xen/xen.h"
#include "xen/private.h"

#define SAME(a, b, field) (offsetof(struct a, field) == offsetof(struct b, field))

_Static_assert(sizeof(struct ring_sample) == sizeof(struct xen_numa_sample) &&
	       SAME(ring_sample, xen_numa_sample, vcpu) && SAME(ring_sample, xen_numa_sample, order) &&
	       SAME(ring_sample, xen_numa_sample, node) && SAME(ring_sample, xen_numa_sample, home) &&
	       SAME(ring_sample, xen_numa_sample, flags) && SAME(ring_sample, xen_numa_sample, pad), "one layout");
_Static_assert(sizeof(struct ring_header) == sizeof(struct xen_numa_sample_ring) &&
	       SAME(ring_header, xen_numa_sample_ring, size) && SAME(ring_header, xen_numa_sample_ring, prod) &&
	       SAME(ring_header, xen_numa_sample_ring, cons), "one layout");
_Static_assert(RING_VERSION == XEN_NUMA_SAMPLE_RING_VERSION && RING_PAGES_MAX == XEN_NUMA_SAMPLE_MAX_FRAMES &&
	       SAMPLE_WRITE == XEN_NUMA_SAMPLE_WRITE &&
	       XEN_NUMA_SAMPLE_SOURCE(SAMPLE_IBS) == XEN_NUMA_SAMPLE_IBS, "one meaning");
_Static_assert(XEN_OFF == XEN_NUMA_SAMPLE_OFF && XEN_RUNNING == XEN_NUMA_SAMPLE_RUNNING &&
	       XEN_UNREAD == XEN_NUMA_SAMPLE_UNREAD && XEN_UNFIT == XEN_NUMA_SAMPLE_UNFIT, "one meaning");

static int map(unsigned int domid, struct xen_ring *ring)
{
	ring->base = NULL;
	if (xenforeignmemory_resource_size(xen_fmem, domid, XENMEM_resource_numa_samples, 0, &ring->bytes))
		return errno;
	ring->resource = xenforeignmemory_map_resource(xen_fmem, domid, XENMEM_resource_numa_samples, 0, 0,
						       ring->bytes / RING_PAGE, &ring->base, PROT_READ | PROT_WRITE, 0);
	return ring->resource ? 0 : errno;
}

static int start(unsigned int domid, const struct xen_sampling *s, unsigned int pages)
{
	return xc_domain_numa_sample_start(xen_xc, domid, 1U << (s->ibs ? XEN_NUMA_SAMPLE_IBS : XEN_NUMA_SAMPLE_HINT_FAULT),
					   s->entries, s->period_ms, s->permille, pages) ? errno : 0;
}

int xen_sample_start(unsigned int domid, const struct xen_sampling *s, struct xen_ring *ring)
{
	int error = start(domid, s, s->pages);
	size_t bytes;

	/* The ring of the domain's first sampling stays, and may be smaller. */
	if (error == ENOSPC && !xenforeignmemory_resource_size(xen_fmem, domid, XENMEM_resource_numa_samples, 0, &bytes))
		error = start(domid, s, bytes / RING_PAGE);
	if (error)
		return error;
	error = map(domid, ring);
	if (error)
		xc_domain_numa_sample_stop(xen_xc, domid);
	return error;
}

void xen_sample_drop(struct xen_ring *ring)
{
	if (ring->resource)
		xenforeignmemory_unmap_resource(xen_fmem, ring->resource);
	*ring = (struct xen_ring){ 0 };
}

void xen_sample_stop(unsigned int domid, struct xen_ring *ring)
{
	xen_sample_drop(ring);
	/* It fails for a domain that is gone, and there all has ended. */
	xc_domain_numa_sample_stop(xen_xc, domid);
}

int xen_sample_get(unsigned int domid, struct counters *counters, enum xen_state *state)
{
	struct xen_domctl_numa_policy_sample s;

	counters_clear(counters, xen_nodes());
	if (xc_domain_numa_sample_get(xen_xc, domid, &s, counters->matrix, xen_nodes()))
		return errno;
	counters->faults = s.faults;
	counters->marked = s.marked;
	counters->dropped = s.dropped;
	counters->ns = s.ns;
	counters->guest_ns = s.guest_ns;
	counters->periods = s.periods;
	counters->throttled = s.throttled;
	*state = s.state <= XEN_UNFIT ? s.state : XEN_UNFIT;
	return 0;
}
