// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * domctl-probe SEED: hands XEN_DOMCTL_numa_policy garbage in every field, first one by one, then at random.
 * domctl-probe --absent: checks that a hypervisor without the feature knows no such domctl.
 *
 * After the manner of Xen's tools/tests/paging-mempool: a domain of its own, good and bad input, destroyed at the end.
 * What the hypervisor says meanwhile is judged by who runs this.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xencall.h>

#include "domctl-probe.h"

static xencall_handle *xcall;
static xc_interface *xch;
struct xen_domctl *domctl;
static uint32_t domid;
static unsigned int calls, refused, failures;

void fail(const char *format, ...)
{
	va_list ap;

	failures++;
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

int call(void)
{
	int rc;

	calls++;
	rc = xencall1(xcall, __HYPERVISOR_domctl, (uintptr_t)domctl);
	refused += rc < 0;
	return rc < 0 ? errno : 0;
}

/* A call that is valid but for what the caller changes. */
struct xen_domctl_numa_policy *prepare(uint32_t op)
{
	static uint64_t *counts;
	static uint32_t *weights;
	static uint8_t *bitmap;
	static xen_numa_page_t *pages;
	static xen_numa_move_t *moves;
	struct xen_domctl_numa_policy *np = &domctl->u.numa_policy;

	if (!counts) {
		counts = xencall_alloc_buffer(xcall, NODES * NODES * sizeof(*counts));
		weights = xencall_alloc_buffer(xcall, NODES * sizeof(*weights));
		bitmap = xencall_alloc_buffer(xcall, NODES / 8);
		pages = xencall_alloc_buffer(xcall, PAGES * sizeof(*pages));
		moves = xencall_alloc_buffer(xcall, PAGES * sizeof(*moves));
		if (!counts || !weights || !bitmap || !pages || !moves)
			exit(2);
	}
	memset(domctl, 0, sizeof(*domctl));
	memset(bitmap, 0, NODES / 8);
	domctl->cmd = XEN_DOMCTL_numa_policy;
	domctl->interface_version = XEN_DOMCTL_INTERFACE_VERSION;
	domctl->domain = domid;
	np->op = op;
	switch (op) {
	case XEN_DOMCTL_NUMA_POLICY_SET:
	case XEN_DOMCTL_NUMA_POLICY_GET:
		bitmap[0] = 0x3;
		weights[0] = weights[1] = 1;
		np->u.conf.policy = op == XEN_DOMCTL_NUMA_POLICY_SET ? XEN_NUMA_POLICY_ROUND_2M : 0;
		np->u.conf.nr_weights = op == XEN_DOMCTL_NUMA_POLICY_SET ? 2 : NODES;
		np->u.conf.nodes.nr_bits = NODES;
		set_xen_guest_handle_raw(np->u.conf.nodes.bitmap, bitmap);
		set_xen_guest_handle_raw(np->u.conf.weights, weights);
		break;
	case XEN_DOMCTL_NUMA_POLICY_USAGE:
		np->u.usage.nr_nodes = NODES;
		set_xen_guest_handle_raw(np->u.usage.counts, counts);
		break;
	case XEN_DOMCTL_NUMA_POLICY_LOCATE:
		for (unsigned int i = 0; i < PAGES; i++)
			pages[i].gfn = i;
		np->u.locate.nr = PAGES;
		set_xen_guest_handle_raw(np->u.locate.pages, pages);
		break;
	case XEN_DOMCTL_NUMA_POLICY_MOVE:
		for (unsigned int i = 0; i < PAGES; i++)
			moves[i] = (struct xen_numa_move){ .gfn = i, .node = i % 8 };
		np->u.move.nr = PAGES;
		set_xen_guest_handle_raw(np->u.move.list, moves);
		break;
	case XEN_DOMCTL_NUMA_POLICY_REBALANCE:
		np->u.rebalance.nr = PAGES;
		break;
	case XEN_DOMCTL_NUMA_POLICY_TOUCHES:
		np->u.touches.nr_nodes = NODES;
		set_xen_guest_handle_raw(np->u.touches.reserve, counts);
		break;
	case XEN_DOMCTL_NUMA_POLICY_SAMPLE:
		np->u.sample.action = XEN_NUMA_SAMPLE_GET;
		np->u.sample.nr_nodes = NODES;
		set_xen_guest_handle_raw(np->u.sample.samples, counts);
		break;
	}
	return np;
}

void expect_good(const char *what)
{
	int error = call();

	if (error)
		fail("%s: refused: %s", what, strerror(error));
}

void expect_refusal(const char *what)
{
	if (!call())
		fail("%s: accepted", what);
}

void *const no_handles[NR_NO_HANDLES] = {
	(void *)0x1, (void *)0x1000, (void *)0x7ffffffff000, (void *)0x8000000000000000u, (void *)0xffff800000000000u,
	(void *)0xffff82d040200000u, (void *)-1L, (void *)-8L,
};

/* After all that the domain has a policy that exists, and the pages it was given. */
static void check_domain(void)
{
	struct xen_domctl_numa_policy *np = prepare(XEN_DOMCTL_NUMA_POLICY_GET);
	uint64_t mapped = 0;

	expect_good("get at the end");
	if (np->u.conf.policy > XEN_NUMA_POLICY_FIRST_TOUCH)
		fail("policy %" PRIu32 " at the end", np->u.conf.policy);

	prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE)->u.sample.action = XEN_NUMA_SAMPLE_STOP;
	expect_good("stop sampling at the end");
	np = prepare(XEN_DOMCTL_NUMA_POLICY_SAMPLE);
	expect_good("ask about sampling at the end");
	if (np->u.sample.state != XEN_NUMA_SAMPLE_OFF || np->u.sample.periods)
		fail("sampling goes on after it was stopped");

	np = prepare(XEN_DOMCTL_NUMA_POLICY_USAGE);
	if (call()) {
		fail("usage at the end: %s", strerror(errno));
		return;
	}
	for (unsigned int i = 0; i < NODES * XEN_NUMA_USAGE_SIZES; i++)
		mapped += np->u.usage.counts.p[i] << (9 * (i % XEN_NUMA_USAGE_SIZES));
	if (np->u.usage.gfn != XEN_NUMA_USAGE_END)
		fail("usage goes on at gfn %#" PRIx64, np->u.usage.gfn);
	if (mapped != PAGES)
		fail("%" PRIu64 " pages at the end, %d were populated", mapped, PAGES);
}

/* A PV domain has no p2m of Xen's: every op is refused. */
static void probe_pv(uint32_t pv)
{
	for (uint32_t op = 0; op < OPS; op++) {
		prepare(op);
		domctl->domain = pv;
		expect_refusal("PV domain");
	}
}

static void probe_absent(void)
{
	for (uint32_t op = 0; op < OPS; op++) {
		int error;

		prepare(op);
		error = call();
		if (error != ENOSYS && error != EOPNOTSUPP)
			fail("op %" PRIu32 ": %s", op, error ? strerror(error) : "accepted");
	}
}

static uint32_t make_domain(bool pv)
{
	static const char label[] = "system_u:system_r:domU_t";
	struct xen_domctl_createdomain create = {
		.flags = pv ? 0 : XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap,
		.max_vcpus = 1,
		.max_grant_frames = 1,
		.grant_opts = XEN_DOMCTL_GRANT_version(1),
		.arch.emulation_flags = pv ? 0 : XEN_X86_EMU_LAPIC,
	};
	uint32_t id = 0;

	/* fails where there is no FLASK, and nobody asks for a label then */
	if (xc_flask_context_to_sid(xch, (char *)label, sizeof(label) - 1, &create.ssidref))
		create.ssidref = 0;
	if (xc_domain_create(xch, &id, &create)) {
		perror("domctl-probe: cannot make a domain");
		exit(2);
	}
	return id;
}

static void populate(void)
{
	static xen_pfn_t gfns[PAGES];

	for (unsigned int i = 0; i < PAGES; i++)
		gfns[i] = i;
	if (xc_domain_setmaxmem(xch, domid, -1) || xc_set_paging_mempool_size(xch, domid, 8 << 20) ||
	    xc_domain_populate_physmap_exact(xch, domid, PAGES, 0, 0, gfns)) {
		perror("domctl-probe: cannot populate the domain");
		exit(2);
	}
}

static void destroy(uint32_t id)
{
	if (xc_domain_destroy(xch, id))
		fail("destroy: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	bool absent = argc == 2 && !strcmp(argv[1], "--absent");
	uint32_t pv;

	xcall = xencall_open(NULL, 0);
	xch = xc_interface_open(NULL, NULL, 0);
	domctl = xcall ? xencall_alloc_buffer(xcall, sizeof(*domctl)) : NULL;
	if (argc != 2 || !domctl || !xch) {
		fprintf(stderr, "usage: domctl-probe SEED | --absent, in dom0\n");
		return 2;
	}

	domid = make_domain(false);
	if (absent) {
		probe_absent();
	} else {
		populate();
		pv = make_domain(true);
		probe_pv(pv);
		destroy(pv);
		probe_fields();
		probe_random(strtoull(argv[1], NULL, 0));
		check_domain();
	}
	destroy(domid);
	prepare(XEN_DOMCTL_NUMA_POLICY_GET);
	expect_refusal("destroyed domain");

	if (!failures)
		printf("probe: %s %s: %u calls, %u refused, all answered\n", absent ? "feature" : "seed",
		       absent ? "absent" : argv[1], calls, refused);
	return !!failures;
}
