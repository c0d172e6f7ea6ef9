/* SPDX-License-Identifier: GPL-2.0-only */
/* Access sampling: Xen's rules of who may begin and end it, and counts that are always the same. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

#include "fake.h"

#define PAGE 4096
#define ACCESSES 64

static struct {
	unsigned int from, to;
	uint64_t count;
} accesses[ACCESSES];

static unsigned int nr_accesses, nr_gets, most_frames = 257;
static int becomes, becomes_after = -1, signal_number, signal_after = -1, gap_after = -1;
static char ring[257 * PAGE];
static bool mapped, running;

bool read_sampling_line(const char *word, const char *line)
{
	if (!strcmp(word, "access")) {
		assert(nr_accesses < ACCESSES);
		sscanf(line, "%u %u %lu", &accesses[nr_accesses].from, &accesses[nr_accesses].to, &accesses[nr_accesses].count);
		nr_accesses++;
		return true;
	}
	if (!strcmp(word, "frames"))
		return sscanf(line, "%u", &most_frames) == 1;
	if (!strcmp(word, "sampling"))
		return sscanf(line, "%d %d", &becomes, &becomes_after) == 2;
	if (!strcmp(word, "interrupt"))
		return sscanf(line, "%d %d", &signal_number, &signal_after) == 2;
	if (!strcmp(word, "gap"))
		return sscanf(line, "%d", &gap_after) == 1;
	return false;
}

/* As libxenctrl does. */
static int answer(const char *function)
{
	int error = fails(function);

	errno = error ? error : errno;
	return error ? -1 : 0;
}

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild_logger, unsigned open_flags)
{
	assert(logger && dombuild_logger && !open_flags);
	return answer("xc_open") ? NULL : (xc_interface *)ring;
}

int xc_interface_close(xc_interface *xch)
{
	assert(xch == (xc_interface *)ring);
	return 0;
}

xenforeignmemory_handle *xenforeignmemory_open(struct xentoollog_logger *logger, unsigned open_flags)
{
	assert(logger && !open_flags);
	return (xenforeignmemory_handle *)ring;
}

int xenforeignmemory_close(xenforeignmemory_handle *fmem)
{
	assert(fmem == (xenforeignmemory_handle *)ring && !mapped);
	return 0;
}

int xc_domain_numa_sample_start(xc_interface *xch, uint32_t domid, uint32_t sources, uint32_t entries, uint32_t period_ms,
				uint32_t budget, uint32_t frames)
{
	(void)xch;
	assert(sources == 1U << XEN_NUMA_SAMPLE_HINT_FAULT && entries && entries <= XEN_NUMA_SAMPLE_MAX_ENTRIES);
	assert(period_ms >= XEN_NUMA_SAMPLE_MIN_PERIOD && budget && budget <= XEN_NUMA_SAMPLE_MAX_BUDGET);
	assert(frames <= XEN_NUMA_SAMPLE_MAX_FRAMES && frames > 1 && !((frames - 1) & (frames - 2)));
	trace("sample start %u\n", domid);
	if (running) {
		errno = EBUSY;
		return -1;
	}
	if (frames > most_frames) {
		errno = ENOSPC;
		return -1;
	}
	if (answer("start"))
		return -1;
	running = true;
	return 0;
}

int xc_domain_numa_sample_stop(xc_interface *xch, uint32_t domid)
{
	(void)xch;
	trace("sample stop %u\n", domid);
	running = false;
	return 0;
}

int xc_domain_numa_sample_get(xc_interface *xch, uint32_t domid, struct xen_domctl_numa_policy_sample *sample, uint64_t *samples,
			      uint32_t nr_nodes)
{
	struct xen_numa_sample_ring *header = (void *)ring;
	unsigned int i;

	(void)xch;
	assert(nr_nodes == 64);
	trace("sample get %u cons %u of %u\n", domid, header->cons, header->prod);
	if (answer("get_samples"))
		return -1;
	header->prod += 100;
	if ((int)nr_gets == signal_after)
		raise(signal_number);
	if ((int)nr_gets == gap_after)
		pass_time(6);
	memset(sample, 0, sizeof(*sample));
	sample->state = (int)nr_gets++ >= becomes_after && becomes_after >= 0 ? (uint32_t)becomes : XEN_NUMA_SAMPLE_RUNNING;
	if (sample->state != XEN_NUMA_SAMPLE_RUNNING)
		running = false;
	for (i = 0; i < nr_accesses; i++)
		samples[accesses[i].from * nr_nodes + accesses[i].to] += accesses[i].count;
	return 0;
}

int xenforeignmemory_resource_size(xenforeignmemory_handle *fmem, domid_t domid, unsigned int type, unsigned int id, size_t *size)
{
	(void)fmem;
	(void)domid;
	assert(type == XENMEM_resource_numa_samples && !id);
	*size = (most_frames < 33 ? most_frames : 33) * PAGE;
	return 0;
}

xenforeignmemory_resource_handle *xenforeignmemory_map_resource(
	xenforeignmemory_handle *fmem, domid_t domid, unsigned int type, unsigned int id, unsigned long frame,
	unsigned long nr_frames, void **paddr, int prot, int flags)
{
	(void)fmem;
	(void)prot;
	assert(type == XENMEM_resource_numa_samples && !id && !frame && nr_frames == (most_frames < 33 ? most_frames : 33));
	assert(!flags);
	trace("sample map %u\n", domid);
	if (answer("map"))
		return NULL;
	mapped = true;
	*paddr = ring;
	return (xenforeignmemory_resource_handle *)ring;
}

int xenforeignmemory_unmap_resource(xenforeignmemory_handle *fmem, xenforeignmemory_resource_handle *fres)
{
	(void)fmem;
	assert(fres == (xenforeignmemory_resource_handle *)ring && mapped);
	mapped = false;
	trace("sample unmap\n");
	return 0;
}
