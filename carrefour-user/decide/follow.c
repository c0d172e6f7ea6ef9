/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory may follow the policy in a period. */
#include "decide/follow.h"

#define STEP_PAGES 4096		/* of a hypercall: 16 MiB */
#define STEP_LEAST 64

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool follow_period(struct follow *f, const struct host *host, const struct config *config, uint64_t home)
{
	unsigned int n;

	for (n = 0; !f->gfn && n < host->nr_nodes; n++)
		if (host->room[n])
			f->nodes |= 1ULL << n;
	/* Where pages go is Xen's affair: all of them might go to one node. */
	f->to = home & f->nodes;
	f->left = host_share(host, config, false).bytes;
	for (n = 0; n < host->nr_nodes; n++) {
		if (!(f->to >> n & 1))
			continue;
		if (!host->room[n])
			return false;
		f->left = least(f->left, host->room[n]);
	}
	return true;
}

unsigned int follow_step(const struct follow *f)
{
	return least(f->left >> PAGE_SHIFT, f->step ? f->step : STEP_PAGES);
}

void follow_pace(struct follow *f, unsigned int pages, uint64_t ns, uint64_t aim)
{
	if (ns > aim)
		f->step = pages / 2 > STEP_LEAST ? pages / 2 : STEP_LEAST;
	else if (f->step && ns < aim / 2)
		f->step = least(2 * f->step, STEP_PAGES);
}

void follow_took(struct follow *f, struct host *host, uint64_t moved, uint64_t stays)
{
	/* Xen moves a block of 2 MiB as one, and so sometimes more than it was asked for. */
	uint64_t bytes = moved << PAGE_SHIFT;
	unsigned int n;

	host_took(host, (struct budget){ least(bytes, host->bytes_left), 0 }, false, false);
	/* Any of them may have had it all, and the next guest is to leave the reserve as it is, too. */
	for (n = 0; n < host->nr_nodes; n++)
		if (f->to >> n & 1)
			host->room[n] -= least(bytes, host->room[n]);
	f->left -= least(bytes, f->left);
	f->moved += moved;
	f->stays += stays;
}
