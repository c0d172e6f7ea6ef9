// SPDX-License-Identifier: GPL-2.0-or-later
#include "page-events.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "platform.h"

atomic_ulong unwanted;

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
