/* SPDX-License-Identifier: GPL-2.0-only */
/* libxl does not know access sampling: by libxenctrl. Xen counts by nodes, so that the ring need only be emptied. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

#include "ask/context.h"
#include "ask/sampling.h"

/* As carrefourd has them by default: marked entries, ms, and 1/1000 of the vCPUs' time. */
#define ENTRIES 1024
#define PERIOD_MS 100
#define BUDGET 15
/* Room for some readings that come late: 8192 samples. */
#define FRAMES 33

static struct {
	xenforeignmemory_handle *memory;
	xenforeignmemory_resource_handle *resource;
	struct xen_numa_sample_ring *ring;
	uint32_t domid;
	bool runs;
} sampling;

static void close_all(void)
{
	int error = errno;

	if (sampling.resource)
		xenforeignmemory_unmap_resource(sampling.memory, sampling.resource);
	if (sampling.memory)
		xenforeignmemory_close(sampling.memory);
	memset(&sampling, 0, sizeof(sampling));
	errno = error;
}

static int start(unsigned int frames)
{
	return xc_domain_numa_sample_start(control(), sampling.domid, 1U << XEN_NUMA_SAMPLE_HINT_FAULT, ENTRIES, PERIOD_MS,
					   BUDGET, frames);
}

static int ring_bytes(size_t *bytes)
{
	return xenforeignmemory_resource_size(sampling.memory, sampling.domid, XENMEM_resource_numa_samples, 0, bytes);
}

static bool map_ring(void)
{
	void *base = NULL;
	size_t bytes;

	if (ring_bytes(&bytes))
		return false;
	sampling.resource = xenforeignmemory_map_resource(sampling.memory, sampling.domid, XENMEM_resource_numa_samples, 0, 0,
							  bytes / PAGE_BYTES, &base, PROT_READ | PROT_WRITE, 0);
	sampling.ring = base;
	return sampling.resource;
}

enum result sampling_begin(uint32_t domid)
{
	size_t bytes;
	int error;

	forget_reason();
	sampling.domid = domid;
	if (control())
		sampling.memory = xenforeignmemory_open(context_logger(), 0);
	if (!sampling.memory) {
		close_all();
		return result_of_errno(errno, "no connection to Xen");
	}
	error = start(FRAMES) ? errno : 0;
	/* The ring of the domain's first sampling stays, and may be smaller. */
	if (error == ENOSPC && !ring_bytes(&bytes))
		error = start(bytes / PAGE_BYTES) ? errno : 0;
	if (error) {
		close_all();
		return result_of_errno(error, "Xen does not begin");
	}
	sampling.runs = true;
	if (map_ring())
		return RESULT_OK;
	error = errno;
	sampling_end();
	return result_of_errno(error, "the ring of samples cannot be mapped");
}

enum result sampling_read(struct accesses *accesses, enum sampling_state *state)
{
	static uint64_t matrix[NODES_MAX * NODES_MAX];
	struct xen_domctl_numa_policy_sample sample;
	unsigned int from;

	/* What is in the ring has been counted. */
	__atomic_store_n(&sampling.ring->cons, __atomic_load_n(&sampling.ring->prod, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	forget_reason();
	memset(matrix, 0, sizeof(matrix));
	if (xc_domain_numa_sample_get(control(), sampling.domid, &sample, matrix, NODES_MAX))
		return result_of_errno(errno, "Xen does not tell the counts");
	for (from = 0; from < NODES_MAX; from++)
		memcpy(accesses->count[from], matrix + from * NODES_MAX, sizeof(accesses->count[from]));
	*state = sample.state == XEN_NUMA_SAMPLE_RUNNING ? SAMPLING_RUNS :
		 sample.state == XEN_NUMA_SAMPLE_UNFIT ? SAMPLING_UNFIT : SAMPLING_ENDED;
	return RESULT_OK;
}

void sampling_end(void)
{
	if (sampling.runs)
		xc_domain_numa_sample_stop(control(), sampling.domid);
	close_all();
}

void sampling_give_up(void)
{
	close_all();
}
