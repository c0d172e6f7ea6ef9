// SPDX-License-Identifier: GPL-2.0-or-later
/* Garbage in many fields at once, the same for the same seed. */
#include <stdlib.h>
#include <sys/mman.h>

#include "domctl-probe.h"

#define RANDOM_CALLS 6000

static uint64_t state;

static uint64_t rnd(void)
{
	/* xorshift64*: the run is a function of the seed */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

/* Small numbers, single bits, or anything. */
static uint64_t some(void)
{
	uint64_t value = rnd();

	switch (value >> 62) {
	case 0:
		return value % 5;
	case 1:
		return 1ull << value % 64;
	case 2:
		return value % 300;
	default:
		return rnd();
	}
}

/* As far as a call can reach from its handle: 2^32 entries. */
#define REACH (sizeof(xen_numa_page_t) << 32)

/* Over the end of a page that is there, at its start, read-only, or nowhere: never our own heap or stack. */
static void *some_handle(void)
{
	static char *arena;
	uint64_t value = rnd();

	if (!arena) {
		arena = mmap(NULL, 8192 + REACH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (arena == MAP_FAILED || mprotect(arena, 4096, PROT_READ | PROT_WRITE) ||
		    mprotect(arena + 4096, 4096, PROT_READ) || mlock(arena, 8192))
			exit(2);
	}
	switch (value % 8) {
	case 0:
		return no_handles[value / 8 % NR(no_handles)];
	case 1:
		return arena + 4096 + value / 8 % 4096;
	case 2:
		return NULL;
	default:
		return arena + value / 8 % 4096;
	}
}

void probe_random(uint64_t seed)
{
	state = seed + 0x9e3779b97f4a7c15u;	/* which may not be 0 */
	for (unsigned int i = 0; i < RANDOM_CALLS; i++) {
		uint32_t op = rnd() % 16 ? rnd() % OPS : (uint32_t)some();
		struct xen_domctl_numa_policy *np = prepare(op);

		/* most fields stay as they are, or nothing would come past the first check */
		np->pad = rnd() % 32 ? 0 : (uint32_t)some();
		switch (op) {
		case XEN_DOMCTL_NUMA_POLICY_SET:
		case XEN_DOMCTL_NUMA_POLICY_GET:
			if (!(rnd() % 2))
				np->u.conf.policy = some();
			if (!(rnd() % 2))
				np->u.conf.nr_weights = some();
			if (!(rnd() % 2))
				np->u.conf.nodes.nr_bits = some();
			if (!(rnd() % 4))
				set_xen_guest_handle_raw(np->u.conf.nodes.bitmap, some_handle());
			if (!(rnd() % 4))
				set_xen_guest_handle_raw(np->u.conf.weights, some_handle());
			if (!(rnd() % 8))
				np->u.conf.placed = some();
			break;
		case XEN_DOMCTL_NUMA_POLICY_USAGE:
			if (!(rnd() % 2))
				np->u.usage.gfn = some();
			if (!(rnd() % 2))
				np->u.usage.nr_nodes = some();
			set_xen_guest_handle_raw(np->u.usage.counts, some_handle());
			break;
		case XEN_DOMCTL_NUMA_POLICY_LOCATE:
			if (!(rnd() % 2))
				np->u.locate.nr = some();
			if (!(rnd() % 4))
				np->u.locate.done = some();
			set_xen_guest_handle_raw(np->u.locate.pages, some_handle());
			break;
		case XEN_DOMCTL_NUMA_POLICY_MOVE:
			if (!(rnd() % 2))
				np->u.move.nr = some();
			if (!(rnd() % 4))
				np->u.move.done = some();
			for (unsigned int i = 0; i < 4; i++)
				np->u.move.list.p[i] = (struct xen_numa_move){
					.gfn = some(), .node = rnd() % 4 ? rnd() % 8 : some(), .order = rnd() % 2 ? 0 : some(),
				};
			if (!(rnd() % 4))
				set_xen_guest_handle_raw(np->u.move.list, some_handle());
			break;
		case XEN_DOMCTL_NUMA_POLICY_REBALANCE:
			if (!(rnd() % 2))
				np->u.rebalance.gfn = some();
			if (!(rnd() % 2))
				np->u.rebalance.nr = some();
			if (!(rnd() % 4))
				np->u.rebalance.flags = some();
			break;
		case XEN_DOMCTL_NUMA_POLICY_TOUCHES:
			if (!(rnd() % 2))
				np->u.touches.nr_nodes = some();
			if (!(rnd() % 8))
				np->u.touches.pad = some();
			set_xen_guest_handle_raw(np->u.touches.reserve, some_handle());
			break;
		case XEN_DOMCTL_NUMA_POLICY_SAMPLE:
			np->u.sample.action = rnd() % 4;
			if (np->u.sample.action == XEN_NUMA_SAMPLE_START) {
				np->u.sample = (struct xen_domctl_numa_policy_sample){
					.sources = rnd() % 8 ? 1 : some(), .entries = rnd() % 8 ? 1 + rnd() % 1000 : some(),
					.period_ms = rnd() % 8 ? 10 + rnd() % 100 : some(), .budget = rnd() % 8 ? 1 + rnd() % 1000 : some(),
					.frames = rnd() % 8 ? 1 + (1u << rnd() % 9) : some(),
				};
				break;
			}
			if (!(rnd() % 2))
				np->u.sample.nr_nodes = some();
			set_xen_guest_handle_raw(np->u.sample.samples, some_handle());
			break;
		default:
			for (unsigned int word = 0; word < sizeof(np->u) / 8; word++)
				((uint64_t *)&np->u)[word] = some();
		}
		call();
	}
}
