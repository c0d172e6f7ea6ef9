// SPDX-License-Identifier: GPL-2.0-or-later
/* Garbage in one field at a time; the rest of the call is valid. */
#include <string.h>

#include "domctl-probe.h"

static void probe_common(void)
{
	static const uint32_t bad_ops[] = { OPS, OPS + 1, 0x7fffffff, 0x80000000, 0xffffffff };
	static const uint16_t bad_domids[] = { 0x6fff, 0x7ff0, 0x7ff1, 0x7ff2, 0x7ff3, 0x7ff4, 0x7fff, 0xffff };
	unsigned int i;

	for (i = 0; i < NR(bad_ops); i++) {
		prepare(bad_ops[i]);
		expect_refusal("unknown op");
	}
	for (uint32_t op = 0; op < OPS; op++) {
		for (i = 0; i < 32; i++) {
			prepare(op)->pad = 1u << i;
			expect_refusal("padding");
		}
		for (i = 0; i < NR(bad_domids); i++) {
			prepare(op);
			domctl->domain = bad_domids[i];
			expect_refusal("no such domain");
		}
		prepare(op);
		domctl->interface_version ^= 1;
		expect_refusal("interface version");
		prepare(op);
		expect_good("valid call");
	}
}

static void probe_set(void)
{
	static const uint32_t bad_counts[] = { 1, 3, 64, 65, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff };
	static const uint32_t bad_weights[] = { 0, 256, 0x10001, 0x80000000, 0xffffffff };
	struct xen_domctl_numa_policy_conf *conf;
	unsigned int i;

	/* the policies there are, and those there are not */
	for (uint32_t policy = XEN_NUMA_POLICY_NONE; policy <= XEN_NUMA_POLICY_FIRST_TOUCH; policy++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.policy = policy;
		domctl->u.numa_policy.u.conf.nr_weights = 0;
		expect_good("policy");
	}
	for (i = 3; i < 32; i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.policy = 1u << i;
		expect_refusal("policy");
	}
	for (i = 0; i < NR(bad_counts); i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.nr_weights = bad_counts[i];
		expect_refusal("number of weights");
	}
	for (i = 0; i < NR(bad_weights); i++) {
		conf = &prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf;
		conf->weights.p[1] = bad_weights[i];
		expect_refusal("weight");
	}
	for (i = 0; i < NR(no_handles); i++) {
		conf = &prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf;
		set_xen_guest_handle_raw(conf->weights, no_handles[i]);
		expect_refusal("handle of the weights");
		conf = &prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf;
		set_xen_guest_handle_raw(conf->nodes.bitmap, no_handles[i]);
		expect_refusal("handle of the nodes");
	}
	for (i = 8; i < NODES; i++) {
		conf = &prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf;
		((uint8_t *)conf->nodes.bitmap.p)[i / 8] |= 1 << i % 8;
		conf->nr_weights = 0;
		expect_refusal("node that is not there");
	}
	for (i = 7; i < 32; i++) {
		conf = &prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf;
		conf->nodes.nr_bits = 1u << i;
		set_xen_guest_handle_raw(conf->nodes.bitmap, no_handles[0]);
		expect_refusal("number of nodes");
	}
	for (i = 0; i < 32; i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.vnuma = 1u << i;
		expect_refusal("vNUMA of conf");
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.pad = 1u << i;
		expect_refusal("padding of conf");
		prepare(XEN_DOMCTL_NUMA_POLICY_GET)->u.conf.max_pause_us = 1u << i;
		expect_refusal("max_pause_us going in, to be told");
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.follows_affinity = 1u << i;
		expect_refusal("follows_affinity going in");
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.placed = 1ull << (i * 2);
		expect_refusal("placed going in");
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.fallback = 1ull << (i * 2);
		expect_refusal("fallback going in");
	}
}

static void probe_answers(void)
{
	struct xen_domctl_numa_policy *np;
	unsigned int i;

	for (i = 0; i < NR(no_handles); i++) {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_GET);
		set_xen_guest_handle_raw(np->u.conf.weights, no_handles[i]);
		expect_refusal("handle for the weights");
		np = prepare(XEN_DOMCTL_NUMA_POLICY_GET);
		set_xen_guest_handle_raw(np->u.conf.nodes.bitmap, no_handles[i]);
		expect_refusal("handle for the nodes");
		np = prepare(XEN_DOMCTL_NUMA_POLICY_USAGE);
		set_xen_guest_handle_raw(np->u.usage.counts, no_handles[i]);
		expect_refusal("handle for the counts");
		np = prepare(XEN_DOMCTL_NUMA_POLICY_TOUCHES);
		set_xen_guest_handle_raw(np->u.touches.reserve, no_handles[i]);
		expect_refusal("handle for the reserve");
		np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
		set_xen_guest_handle_raw(np->u.locate.pages, no_handles[i]);
		expect_refusal("handle for the pages");
		np->u.locate.nr = 0xffffffff;
		np->u.locate.done = 0;
		expect_refusal("handle for very many pages");
	}
	for (i = 0; i < 32; i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_USAGE)->u.usage.pad = 1u << i;
		expect_refusal("padding of usage");
		prepare(XEN_DOMCTL_NUMA_POLICY_TOUCHES)->u.touches.pad = 1u << i;
		expect_refusal("padding of touches");
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
	np->u.locate.done = np->u.locate.nr + 1;
	expect_refusal("more done than there is");
	np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
	np->u.locate.done = 0xffffffff;
	expect_refusal("more done than there can be");

	prepare(XEN_DOMCTL_NUMA_POLICY_USAGE)->u.usage.gfn = XEN_NUMA_USAGE_END;
	expect_refusal("gfn to count from");
	for (i = 0; i < 64; i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_USAGE)->u.usage.gfn = 1ull << i;
		expect_refusal("gfn to count from");
		/* odd, but with a meaning: only an answer is wanted */
		np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
		np->u.locate.pages.p[0].gfn = 1ull << i;
		np->u.locate.pages.p[1].gfn = (1ull << i) - 1;
		np->u.locate.pages.p[2].gfn = -(1ull << i);
		call();
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_TOUCHES);
	np->u.touches.nr_nodes = 0;
	set_xen_guest_handle_raw(np->u.touches.reserve, no_handles[0]);
	expect_good("no room for the reserve");
	prepare(XEN_DOMCTL_NUMA_POLICY_TOUCHES)->u.touches.nr_nodes = 0xffffffff;
	expect_good("very much room for the reserve");

	/* answers that land on the question */
	np = prepare(XEN_DOMCTL_NUMA_POLICY_USAGE);
	np->u.usage.nr_nodes = 2;
	set_xen_guest_handle_raw(np->u.usage.counts, (void *)domctl);
	call();
	np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
	np->u.locate.nr = 4;
	set_xen_guest_handle_raw(np->u.locate.pages, (void *)domctl);
	call();
	np = prepare(XEN_DOMCTL_NUMA_POLICY_GET);
	np->u.conf.nr_weights = 8;
	set_xen_guest_handle_raw(np->u.conf.weights, (void *)domctl);
	call();
}

/* An entry of a list of moves that cannot be, behind one that can. */
static void refuse_entry(struct xen_numa_move entry, const char *what)
{
	struct xen_domctl_numa_policy *np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);

	np->u.move.list.p[1] = entry;
	expect_refusal(what);
}

static void probe_moving(void)
{
	static const uint32_t bad_nodes[] = { 8, 9, 63, 64, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff };
	struct xen_domctl_numa_policy *np;
	unsigned int i;

	for (i = 0; i < NR(bad_nodes); i++)
		refuse_entry((struct xen_numa_move){ .node = bad_nodes[i] }, "node to move to");
	for (i = 0; i < 16; i++) {
		refuse_entry((struct xen_numa_move){ .result = 1u << i }, "result going in");
		refuse_entry((struct xen_numa_move){ .order = 1u << i }, "order");
		if (i < 9)
			refuse_entry((struct xen_numa_move){ .gfn = 1u << i, .order = 9 }, "crooked gfn");
	}
	for (i = 0; i < NR(no_handles); i++) {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
		set_xen_guest_handle_raw(np->u.move.list, no_handles[i]);
		expect_refusal("handle for the moves");
		np->u.move.nr = 0xffffffff;
		np->u.move.done = 0;
		expect_refusal("handle for very many moves");
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
	np->u.move.done = np->u.move.nr + 1;
	expect_refusal("more done than there is");
	for (i = 0; i < 32; i++) {
		if (1u << i & (XEN_NUMA_REBALANCE_DRY_RUN | XEN_NUMA_REBALANCE_COMPACT))
			continue;
		prepare(XEN_DOMCTL_NUMA_POLICY_REBALANCE)->u.rebalance.flags = 1u << i;
		expect_refusal("flags");
	}

	/* with a meaning: nowhere, the same page over and over, a policy that names no node */
	for (i = 0; i < 64; i++) {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
		np->u.move.list.p[0].gfn = 1ull << i;
		np->u.move.list.p[1].gfn = -(1ull << i);
		np->u.move.list.p[2].gfn = 7;
		expect_good("gfn of a move");
		np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
		np->u.move.nr = 1;
		np->u.move.list.p[0].gfn = -512ull << i;
		np->u.move.list.p[0].order = 9;
		expect_good("gfn of a large move");
		prepare(XEN_DOMCTL_NUMA_POLICY_REBALANCE)->u.rebalance.gfn = 1ull << i;
		expect_good("gfn to rebalance from");
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
	for (i = 0; i < PAGES; i++)
		np->u.move.list.p[i].gfn = 7;
	expect_good("the same page in all of the list");
	np = prepare(XEN_DOMCTL_NUMA_POLICY_MOVE);
	set_xen_guest_handle_raw(np->u.move.list, (void *)domctl);
	np->u.move.nr = 4;
	call();
	prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.policy = XEN_NUMA_POLICY_NONE;
	domctl->u.numa_policy.u.conf.nr_weights = 0;
	expect_good("no policy");
	prepare(XEN_DOMCTL_NUMA_POLICY_REBALANCE);
	expect_refusal("rebalance without a policy");
	prepare(XEN_DOMCTL_NUMA_POLICY_SET);
	expect_good("a policy again");
}

static struct xen_domctl_numa_policy_sample *prepare_start(void)
{
	struct xen_domctl_numa_policy_sample *sample = &prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE)->u.sample;

	*sample = (struct xen_domctl_numa_policy_sample){
		.action = XEN_NUMA_SAMPLE_START, .sources = 1, .entries = 100, .period_ms = 10, .budget = 10, .frames = 3,
	};
	return sample;
}

static void stop_sampling(void)
{
	prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE)->u.sample.action = XEN_NUMA_SAMPLE_STOP;
	expect_good("stop sampling");
}

static void probe_sampling(void)
{
	struct xen_domctl_numa_policy *np;
	unsigned int i;

	for (i = 0; i < 32; i++) {
		if (i > 1) {
			prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE)->u.sample.action = 1u << i;
			expect_refusal("action");
		}
		if (i > 0) {
			prepare_start()->sources = 1u << i;
			expect_refusal("source");
			prepare_start()->sources = 1u << i | 1;
			expect_refusal("source beside another one");
		}
		if (i > 16) {
			prepare_start()->entries = 1u << i;
			expect_refusal("entries");
		}
		if (i < 4 || i > 15) {
			prepare_start()->period_ms = 1u << i;
			expect_refusal("period");
		}
		if (i > 9) {
			prepare_start()->budget = 1u << i;
			expect_refusal("budget");
		}
		if (i != 1) {
			prepare_start()->frames = 1u << i;
			expect_refusal("frames");
		}
		prepare_start()->state = 1u << i;
		expect_refusal("state going in");
		prepare_start()->nr_nodes = 1u << i;
		expect_refusal("number of nodes going in");
		prepare_start()->faults = 1u << i;
		expect_refusal("faults going in");
		prepare_start()->most_entries = 1u << i;
		expect_refusal("most entries going in");
	}
	prepare_start()->sources = 0;
	expect_refusal("no source");
	prepare_start()->entries = 0;
	expect_refusal("no entries");
	prepare_start()->period_ms = 0;
	expect_refusal("no period");
	prepare_start()->budget = 0;
	expect_refusal("no budget");
	prepare_start()->frames = 0;
	expect_refusal("no frames");

	for (i = 0; i < NR(no_handles); i++) {
		np = prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE);
		set_xen_guest_handle_raw(np->u.sample.samples, no_handles[i]);
		expect_refusal("handle for the samples");
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE);
	np->u.sample.nr_nodes = 0;
	set_xen_guest_handle_raw(np->u.sample.samples, no_handles[0]);
	expect_good("no room for the samples");

	/* again and again, and not twice at a time */
	for (i = 0; i < 20; i++) {
		/* the most first: the ring of the first one is that of all */
		prepare_start()->frames = 1 + (1 << (8 - i % 9));
		expect_good("start sampling");
		prepare_start();
		expect_refusal("start sampling twice");
		stop_sampling();
	}
	stop_sampling();
}

void probe_fields(void)
{
	probe_common();
	probe_set();
	probe_answers();
	probe_moving();
	probe_sampling();
}
