// SPDX-License-Identifier: GPL-2.0-or-later
#include "sampling.h"

#include <xen/memory.h>

#include "hypercall.h"

#define ALL_THE_TIME XEN_NUMA_SAMPLE_MAX_BUDGET

struct xen_numa_sample_ring *sample_ring;

static long sample_op(struct xen_domctl *op, uint32_t action, domid_t domid)
{
	op->u.numa_policy.u.sample.action = action;
	return try_policy_op(op, XEN_DOMCTL_NUMA_POLICY_SAMPLE, domid);
}

static void must_sample_op(struct xen_domctl *op, uint32_t action, domid_t domid)
{
	long result = sample_op(op, action, domid);

	if (result)
		die_of("sampling d%d, action %u: %ld", domid, action, result);
}

long try_start_sampling(domid_t domid, uint32_t entries, uint32_t period_ms, uint32_t frames)
{
	struct xen_domctl op = {
		.u.numa_policy.u.sample = {
			.sources = 1U << XEN_NUMA_SAMPLE_HINT_FAULT,
			.entries = entries,
			.period_ms = period_ms,
			.budget = ALL_THE_TIME,
			.frames = frames,
		},
	};

	return sample_op(&op, XEN_NUMA_SAMPLE_START, domid);
}

long ring_frames(domid_t domid, xen_pfn_t frames[RING_FRAMES])
{
	struct xen_mem_acquire_resource resource = {
		.domid = domid,
		.type = XENMEM_resource_numa_samples,
		.nr_frames = RING_FRAMES,
	};

	set_xen_guest_handle(resource.frame_list, frames);
	return memory_op(XENMEM_acquire_resource, &resource);
}

void start_sampling(domid_t domid, uint32_t entries, uint32_t period_ms)
{
	xen_pfn_t frames[RING_FRAMES];
	long result = try_start_sampling(domid, entries, period_ms, RING_FRAMES);

	if (!result)
		result = ring_frames(domid, frames);
	if (result)
		die_of("d%d cannot be sampled: %ld", domid, result);
	for (unsigned int i = 0; i < RING_FRAMES; i++) {
		void *page = map_frame(RING_WINDOW + i, domid, frames[i]);

		if (!i)
			sample_ring = page;
	}
}

void unmap_ring(void)
{
	for (unsigned int i = 0; i < RING_FRAMES; i++)
		unmap_page(RING_WINDOW + i);
}

void stop_sampling(domid_t domid)
{
	struct xen_domctl op = { 0 };

	must_sample_op(&op, XEN_NUMA_SAMPLE_STOP, domid);
}

void get_sampling(domid_t domid, struct xen_domctl_numa_policy_sample *counters, uint64_t samples[MOST_NODES * MOST_NODES])
{
	struct xen_domctl op = { .u.numa_policy.u.sample.nr_nodes = MOST_NODES };

	set_xen_guest_handle(op.u.numa_policy.u.sample.samples, samples);
	must_sample_op(&op, XEN_NUMA_SAMPLE_GET, domid);
	*counters = op.u.numa_policy.u.sample;
}

bool take_sample(struct xen_numa_sample *sample)
{
	const struct xen_numa_sample *samples = (const void *)((const char *)sample_ring + (1 << PAGE_SHIFT));
	uint32_t cons = sample_ring->cons;

	if (cons == __atomic_load_n(&sample_ring->prod, __ATOMIC_ACQUIRE))
		return false;
	*sample = samples[cons & (sample_ring->size - 1)];
	__atomic_store_n(&sample_ring->cons, cons + 1, __ATOMIC_RELEASE);
	return true;
}
