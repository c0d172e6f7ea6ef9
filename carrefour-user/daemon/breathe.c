/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/breathe.h"
#include "daemon/sampling.h"
#include "process/clock.h"

bool breathe(struct daemon *d)
{
	uint64_t now = clock_ns();

	/* Moving takes its time, and Xen ends sampling that nobody reads. */
	if (now - d->read_at >= READ_MS * MS) {
		d->read_at = now;
		sampling_read_all(d);
	}
	if (now - d->served_at >= SERVE_MS * MS) {
		d->served_at = now;
		d->serve(d);
	}
	return !d->ends;
}
