// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Xen is given to read and write has one page, behind which is none: it may run over the end,
 * and hits nothing of ours.  So a number is a small one, of entries that are in that page, or a large
 * one, of such that are beyond all that we have.
 */
#include "random-domctl.h"

#include <string.h>

#include <xen/memory.h>

#include "bare.h"
#include "campaign.h"
#include "hypercall.h"

#define BUFFER_WINDOW 4
#define HOLE_WINDOW 5
#define SMALL 16
#define LARGE (1UL << 24)
#define LIST 32
#define SETS 6			/* policies, and one that is none */
#define MOVED_AT_ONCE 512
#define LONGEST_PAUSE 5000	/* us */

static union buffer {
	uint8_t bytes[1 << PAGE_SHIFT];
	xen_numa_page_t pages[LIST];
	xen_numa_move_t moves[LIST];
	struct {
		uint64_t nodes;
		uint32_t weights[SMALL];
	};
} page __attribute__((aligned(1 << PAGE_SHIFT)));
static union buffer *buffer;
static unsigned int nr_nodes;

_Static_assert(DOMCTL_TOUCHES == XEN_DOMCTL_NUMA_POLICY_TOUCHES, "not as Xen counts them");

void prepare_domctls(unsigned int nodes)
{
	const unsigned long *frames = (const unsigned long *)start_info->mfn_list;

	nr_nodes = nodes;
	buffer = map_page(BUFFER_WINDOW, DOMID_SELF, frames[(uintptr_t)&page >> PAGE_SHIFT]);
	unmap_page(HOLE_WINDOW);
}

static unsigned long some_gfn(struct random *random)
{
	return one_in(random, 32) ? any(random) : ARENA_GFN + below(random, ARENA_PAGES);
}

static void fill_conf(struct random *random, struct xen_domctl_numa_policy_conf *conf)
{
	unsigned int weights = one_in(random, 2) ? 0 : below(random, nr_nodes + 1);

	conf->policy = one_in(random, 3) ? XEN_NUMA_POLICY_FIRST_TOUCH : below(random, SETS);
	buffer->nodes = below(random, 1UL << (nr_nodes + one_in(random, 16)));
	for (unsigned int i = 0; i < SMALL; i++)
		buffer->weights[i] = one_in(random, 64) ? any(random)
			: 1 + below(random, XEN_NUMA_POLICY_MAX_WEIGHT);
	conf->nr_weights = weights;
	/* as many as are named, mostly */
	if (weights && !one_in(random, 4)) {
		conf->nr_weights = 0;
		for (uint64_t nodes = buffer->nodes; nodes; nodes &= nodes - 1)
			conf->nr_weights++;
	}
	conf->max_pause_us = one_in(random, 4) ? 1 + below(random, LONGEST_PAUSE) : 0;
	conf->nodes.nr_bits = 8 * sizeof(buffer->nodes);
	set_xen_guest_handle(conf->nodes.bitmap, (uint8_t *)&buffer->nodes);
	set_xen_guest_handle(conf->weights, buffer->weights);
}

static void fill_moves(struct random *random, struct xen_domctl_numa_policy_move *move)
{
	move->nr = 1 + below(random, LIST);
	for (unsigned int i = 0; i < move->nr; i++) {
		unsigned int order = one_in(random, 4) ? ORDER_2M : 0;
		unsigned long gfn = some_gfn(random) >> order << order;

		if (one_in(random, 256))
			order = any(random);
		buffer->moves[i] = (xen_numa_move_t){
			.gfn = gfn,
			.order = order,
			.node = one_in(random, 256) ? any(random) : below(random, nr_nodes),
		};
	}
	set_xen_guest_handle(move->list, buffer->moves);
}

static void fill_sample(struct random *random, struct xen_domctl_numa_policy_sample *sample,
			uint32_t action)
{
	sample->action = action;
	if (sample->action == XEN_NUMA_SAMPLE_START) {
		sample->sources = 1U << XEN_NUMA_SAMPLE_HINT_FAULT;
		sample->entries = 1 + below(random, XEN_NUMA_SAMPLE_MAX_ENTRIES / 16);
		sample->period_ms = XEN_NUMA_SAMPLE_MIN_PERIOD + below(random, 100);
		sample->budget = 1 + below(random, XEN_NUMA_SAMPLE_MAX_BUDGET);
		sample->frames = 1 + (1U << below(random, 4));
	} else if (sample->action == XEN_NUMA_SAMPLE_GET) {
		sample->nr_nodes = SMALL;
		set_xen_guest_handle(sample->samples, (uint64_t *)buffer->bytes);
	}
}

/* Where the handles of an operation are. */
static unsigned int handles_of(struct xen_domctl_numa_policy *op, void *handles[2])
{
	switch (op->op) {
	case XEN_DOMCTL_NUMA_POLICY_SET:
	case XEN_DOMCTL_NUMA_POLICY_GET:
		handles[0] = &op->u.conf.nodes.bitmap;
		handles[1] = &op->u.conf.weights;
		return 2;
	case XEN_DOMCTL_NUMA_POLICY_USAGE:
		handles[0] = &op->u.usage.counts;
		return 1;
	case XEN_DOMCTL_NUMA_POLICY_LOCATE:
		handles[0] = &op->u.locate.pages;
		return 1;
	case XEN_DOMCTL_NUMA_POLICY_MOVE:
		handles[0] = &op->u.move.list;
		return 1;
	case XEN_DOMCTL_NUMA_POLICY_TOUCHES:
		handles[0] = &op->u.touches.reserve;
		return 1;
	case XEN_DOMCTL_NUMA_POLICY_SAMPLE:
		handles[0] = &op->u.sample.samples;
		return 1;
	default:
		return 0;
	}
}

static uint64_t some_pointer(struct random *random)
{
	switch (below(random, 8)) {
	case 0:
		return 0;
	case 1:
		return any(random) | 1UL << 47;		/* Xen's, or not canonical */
	case 2:
		return HYPERVISOR_VIRT_START + below(random, LARGE);
	case 3:
		return (uintptr_t)buffer + (1 << PAGE_SHIFT) - below(random, 64);
	default:
		return (uintptr_t)buffer;
	}
}

static uint32_t some_word(struct random *random)
{
	return one_in(random, 2) ? below(random, SMALL) : LARGE + below(random, UINT32_MAX - LARGE);
}

static void fill(struct random *random, struct xen_domctl_numa_policy *op, uint32_t action)
{
	switch (op->op) {
	case XEN_DOMCTL_NUMA_POLICY_SET:
	case XEN_DOMCTL_NUMA_POLICY_GET:
		fill_conf(random, &op->u.conf);
		return;
	case XEN_DOMCTL_NUMA_POLICY_USAGE:
		op->u.usage.gfn = one_in(random, 2) ? 0 : some_gfn(random);
		op->u.usage.nr_nodes = nr_nodes;
		set_xen_guest_handle(op->u.usage.counts, (uint64_t *)buffer->bytes);
		return;
	case XEN_DOMCTL_NUMA_POLICY_LOCATE:
		op->u.locate.nr = below(random, LIST + 1);
		for (int i = 0; i < LIST; i++)
			buffer->pages[i].gfn = some_gfn(random);
		set_xen_guest_handle(op->u.locate.pages, buffer->pages);
		return;
	case XEN_DOMCTL_NUMA_POLICY_MOVE:
		fill_moves(random, &op->u.move);
		return;
	case XEN_DOMCTL_NUMA_POLICY_REBALANCE:
		op->u.rebalance.gfn = one_in(random, 2) ? 0 : some_gfn(random);
		op->u.rebalance.nr = below(random, MOVED_AT_ONCE);
		op->u.rebalance.flags = (one_in(random, 4) ? XEN_NUMA_REBALANCE_DRY_RUN : 0) |
					(one_in(random, 4) ? XEN_NUMA_REBALANCE_COMPACT : 0);
		return;
	case XEN_DOMCTL_NUMA_POLICY_TOUCHES:
		op->u.touches.nr_nodes = nr_nodes;
		set_xen_guest_handle(op->u.touches.reserve, (uint64_t *)buffer->bytes);
		return;
	case XEN_DOMCTL_NUMA_POLICY_SAMPLE:
		fill_sample(random, &op->u.sample, action);
		return;
	}
}

/* A few fields that are wrong, or all. */
static void spoil(struct random *random, struct xen_domctl_numa_policy *op)
{
	const unsigned int words = sizeof(*op) / sizeof(uint32_t);
	unsigned int spoilt = one_in(random, 4) ? 4 * words : 1 + below(random, 3);
	uint32_t *word = (uint32_t *)op;
	void *handles[2];
	uint64_t given[2];
	unsigned int nr;

	nr = handles_of(op, handles);
	for (unsigned int i = 0; i < nr; i++)
		given[i] = some_pointer(random);
	while (spoilt--)
		word[2 + below(random, words - 2)] = some_word(random);
	/* what is not checked to be zero is checked next */
	op->pad = one_in(random, 16);
	if (one_in(random, 16))
		op->op = some_word(random);
	nr = handles_of(op, handles);
	for (unsigned int i = 0; i < nr; i++)
		memcpy(handles[i], &given[i], sizeof(given[i]));
}

static bool policy_op(struct random *random, uint32_t which, domid_t domid)
{
	struct xen_domctl op = { .u.numa_policy.op = which };

	fill(random, &op.u.numa_policy, 0);
	return !do_domctl(&op, XEN_DOMCTL_numa_policy, domid);
}

static bool sample(struct random *random, uint32_t action, domid_t domid)
{
	struct xen_domctl op = { .u.numa_policy.op = XEN_DOMCTL_NUMA_POLICY_SAMPLE };

	fill(random, &op.u.numa_policy, action);
	return !do_domctl(&op, XEN_DOMCTL_numa_policy, domid);
}

/* From 2 MiB of its arena on.  Accepted is what has made one page of 512. */
static bool compact_some(struct random *random, domid_t domid)
{
	struct xen_domctl op = { .u.numa_policy.op = XEN_DOMCTL_NUMA_POLICY_REBALANCE };
	struct xen_domctl_numa_policy_rebalance *step = &op.u.numa_policy.u.rebalance;

	step->gfn = some_gfn(random) & ~(PAGES_2M - 1);
	step->nr = 1 + below(random, 4 * MOVED_AT_ONCE);
	step->flags = XEN_NUMA_REBALANCE_COMPACT;
	return !do_domctl(&op, XEN_DOMCTL_numa_policy, domid) && step->pages[XEN_NUMA_MOVE_DONE];
}

static bool garbage(struct random *random, domid_t domid)
{
	struct xen_domctl op = { 0 };

	op.u.numa_policy.op = below(random, XEN_DOMCTL_NUMA_POLICY_SAMPLE + 1);
	fill(random, &op.u.numa_policy, below(random, XEN_NUMA_SAMPLE_GET + 1));
	spoil(random, &op.u.numa_policy);
	return !do_domctl(&op, XEN_DOMCTL_numa_policy, domid);
}

static bool acquire(struct random *random, domid_t domid)
{
	struct xen_mem_acquire_resource resource = {
		.domid = domid,
		.type = XENMEM_resource_numa_samples,
		.id = one_in(random, 16) ? any(random) : 0,
		.nr_frames = one_in(random, 16) ? any(random) : below(random, LIST),
		.frame = one_in(random, 16) ? any(random) : 0,
	};
	uint64_t list = one_in(random, 4) ? some_pointer(random) : (uintptr_t)buffer;

	set_xen_guest_handle(resource.frame_list, (xen_pfn_t *)list);
	return !memory_op(XENMEM_acquire_resource, &resource);
}

static bool change_affinity(struct random *random, domid_t domid)
{
	struct xen_domctl op = { .u.nodeaffinity.nodemap.nr_bits = 8 * sizeof(buffer->nodes) };

	buffer->nodes = below(random, 1UL << nr_nodes);
	set_xen_guest_handle(op.u.nodeaffinity.nodemap.bitmap, (uint8_t *)&buffer->nodes);
	return !do_domctl(&op, XEN_DOMCTL_setnodeaffinity, domid);
}

/* For what it takes to do something to it. */
static bool pause_domain(struct random *random, domid_t domid)
{
	struct xen_domctl op = { 0 };

	if (domid == DOMID_SELF || !domid || do_domctl(&op, XEN_DOMCTL_pausedomain, domid))
		return false;
	random_domctl(random, below(random, DOMCTL_PAUSE), domid);
	memset(&op, 0, sizeof(op));
	do_domctl(&op, XEN_DOMCTL_unpausedomain, domid);
	return true;
}

bool random_domctl(struct random *random, unsigned int which, domid_t domid)
{
	switch (which) {
	case DOMCTL_GARBAGE:
		return garbage(random, domid);
	case DOMCTL_SAMPLE_START:
		return sample(random, XEN_NUMA_SAMPLE_START, domid);
	case DOMCTL_SAMPLE_STOP:
		return sample(random, XEN_NUMA_SAMPLE_STOP, domid);
	case DOMCTL_SAMPLE_GET:
		return sample(random, XEN_NUMA_SAMPLE_GET, domid);
	case DOMCTL_COMPACT:
		return compact_some(random, domid);
	case DOMCTL_ACQUIRE:
		return acquire(random, domid);
	case DOMCTL_AFFINITY:
		return change_affinity(random, domid);
	case DOMCTL_PAUSE:
		return pause_domain(random, domid);
	default:	/* these have Xen's numbers */
		return policy_op(random, which, domid);
	}
}
