// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "page-events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#include "platform-linux.h"

/* linux/include/uapi/xen/privcmd.h */
struct privcmd_hypercall {
	uint64_t op, arg[5];
};
#define IOCTL_PRIVCMD_HYPERCALL _IOC(_IOC_NONE, 'P', 0, sizeof(struct privcmd_hypercall))

/* xen/include/public/xen.h, memory.h */
#define HYPERVISOR_memory_op 12
#define XENMEM_page_events 29

atomic_ulong unwanted;

static int privcmd;

void open_page_events(void)
{
	privcmd = open("/dev/xen/privcmd", O_RDWR);
	if (privcmd < 0)
		die("/dev/xen/privcmd");
}

int page_events(void *argument)
{
	struct privcmd_hypercall hypercall = { HYPERVISOR_memory_op, { XENMEM_page_events, (uintptr_t)argument } };
	long rc = ioctl(privcmd, IOCTL_PRIVCMD_HYPERCALL, &hypercall);

	return rc < 0 ? -errno : rc;
}

int tell(const uint64_t *events, uint32_t nr)
{
	struct page_events e = { events, nr, 0 };
	int rc = page_events(&e);

	if (!rc && e.done != nr)
		die_of("%" PRIu32 " of %" PRIu32 " events done, and no error", e.done, nr);
	return rc;
}

void flush(struct batch *batch)
{
	int rc = batch->nr ? tell(batch->events, batch->nr) : 0;

	if (rc == -EOPNOTSUPP)
		atomic_fetch_add(&unwanted, 1);
	else if (rc)
		die_of("page events: %s", strerror(-rc));
	batch->nr = 0;
}

void add(struct batch *batch, uint64_t event)
{
	if (batch->nr == PAGE_EVENTS_MAX)
		flush(batch);
	batch->events[batch->nr++] = event;
}

void release(struct batch *batch, const char *mem, size_t pages)
{
	for (size_t i = 0; i < pages; ) {
		uint64_t gfn = gfn_of(mem + i * PAGE);
		size_t run = 1;
		unsigned int order = 0;

		while (i + run < pages && run < 1024 && gfn_of(mem + (i + run) * PAGE) == gfn + run)
			run++;
		while (!(gfn >> order & 1) && UINT64_C(2) << order <= run)
			order++;
		add(batch, RELEASED | (uint64_t)order << 52 | gfn);
		i += UINT64_C(1) << order;
	}
	flush(batch);
}
