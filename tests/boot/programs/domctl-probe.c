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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xencall.h>
#include <xenctrl.h>
#include <xen/domctl.h>

#define PAGES 1024              /* of the domain */
#define RANDOM_CALLS 6000
#define NODES 64

static xencall_handle *xcall;
static xc_interface *xch;
static struct xen_domctl *domctl;       /* hypercall-safe */
static uint32_t domid;
static unsigned int calls, refused, failures;

static void fail(const char *format, ...)
{
	va_list ap;

	failures++;
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

static int call(void)
{
	int rc;

	calls++;
	rc = xencall1(xcall, __HYPERVISOR_domctl, (uintptr_t)domctl);
	refused += rc < 0;
	return rc < 0 ? errno : 0;
}

/* A call that is valid but for what the caller changes. */
static struct xen_domctl_numa_policy *prepare(uint32_t op)
{
	static uint64_t *counts;
	static uint32_t *weights;
	static uint8_t *bitmap;
	static xen_numa_page_t *pages;
	struct xen_domctl_numa_policy *np = &domctl->u.numa_policy;

	if (!counts) {
		counts = xencall_alloc_buffer(xcall, NODES * XEN_NUMA_USAGE_SIZES * sizeof(*counts));
		weights = xencall_alloc_buffer(xcall, NODES * sizeof(*weights));
		bitmap = xencall_alloc_buffer(xcall, NODES / 8);
		pages = xencall_alloc_buffer(xcall, PAGES * sizeof(*pages));
		if (!counts || !weights || !bitmap || !pages)
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
	}
	return np;
}

static void expect_good(const char *what)
{
	int error = call();

	if (error)
		fail("%s: refused: %s", what, strerror(error));
}

static void expect_refusal(const char *what)
{
	if (!call())
		fail("%s: accepted", what);
}

static void *const no_handles[] = {
	(void *)0x1, (void *)0x1000, (void *)0x7ffffffff000, (void *)0x8000000000000000u, (void *)0xffff800000000000u,
	(void *)0xffff82d040200000u, (void *)-1L, (void *)-8L,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void probe_common(void)
{
	static const uint32_t bad_ops[] = { 4, 5, 0x7fffffff, 0x80000000, 0xffffffff };
	static const uint16_t bad_domids[] = { 0x6fff, 0x7ff0, 0x7ff1, 0x7ff2, 0x7ff3, 0x7ff4, 0x7fff, 0xffff };
	unsigned int i;

	for (i = 0; i < NR(bad_ops); i++) {
		prepare(bad_ops[i]);
		expect_refusal("unknown op");
	}
	for (uint32_t op = 0; op < 4; op++) {
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
		domctl->domain = 0;
		/* dom0 is PV; only asking for its policy may have an answer */
		if (!call() && op != XEN_DOMCTL_NUMA_POLICY_GET)
			fail("op %u on a PV domain: accepted", op);
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
	for (uint32_t policy = XEN_NUMA_POLICY_NONE; policy <= XEN_NUMA_POLICY_ROUND_1G; policy++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.policy = policy;
		domctl->u.numa_policy.u.conf.nr_weights = 0;
		expect_good("policy");
	}
	for (i = 2; i < 32; i++) {
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
		prepare(XEN_DOMCTL_NUMA_POLICY_SET)->u.conf.pad = 1u << i;
		expect_refusal("padding of conf");
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
	}
	np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
	np->u.locate.done = np->u.locate.nr + 1;
	expect_refusal("more done than there is");
	np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
	np->u.locate.done = 0xffffffff;
	expect_refusal("more done than there can be");

	/* odd, but with a meaning: only an answer is wanted */
	np = prepare(XEN_DOMCTL_NUMA_POLICY_USAGE);
	np->u.usage.gfn = XEN_NUMA_USAGE_END;
	call();
	for (i = 0; i < 64; i++) {
		prepare(XEN_DOMCTL_NUMA_POLICY_USAGE)->u.usage.gfn = 1ull << i;
		call();
		np = prepare(XEN_DOMCTL_NUMA_POLICY_LOCATE);
		np->u.locate.pages.p[0].gfn = 1ull << i;
		np->u.locate.pages.p[1].gfn = (1ull << i) - 1;
		np->u.locate.pages.p[2].gfn = -(1ull << i);
		call();
	}
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

static uint64_t seed;

static uint64_t rnd(void)
{
	/* xorshift64*: the run is a function of the seed */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1du;
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

/* Over the end of a page that is there, at its start, read-only, or nowhere: never our own heap or stack. */
static void *some_handle(void)
{
	static char *arena;
	uint64_t value = rnd();

	if (!arena) {
		arena = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (arena == MAP_FAILED || mprotect(arena + 4096, 4096, PROT_READ) || munmap(arena + 8192, 4096) ||
		    mlock(arena, 8192))
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

static void probe_random(void)
{
	for (unsigned int i = 0; i < RANDOM_CALLS; i++) {
		uint32_t op = rnd() % 16 ? rnd() % 4 : (uint32_t)some();
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
		default:
			for (unsigned int word = 0; word < sizeof(np->u) / 8; word++)
				((uint64_t *)&np->u)[word] = some();
		}
		call();
	}
}

/* After all that the domain has a policy that exists, and the pages it was given. */
static void check_domain(void)
{
	struct xen_domctl_numa_policy *np = prepare(XEN_DOMCTL_NUMA_POLICY_GET);
	uint64_t mapped = 0;

	expect_good("get at the end");
	if (np->u.conf.policy > XEN_NUMA_POLICY_ROUND_1G)
		fail("policy %" PRIu32 " at the end", np->u.conf.policy);

	np = prepare(XEN_DOMCTL_NUMA_POLICY_USAGE);
	do {
		if (call()) {
			fail("usage at the end: %s", strerror(errno));
			return;
		}
		for (unsigned int i = 0; i < NODES * XEN_NUMA_USAGE_SIZES; i++)
			mapped += np->u.usage.counts.p[i] << (9 * (i % XEN_NUMA_USAGE_SIZES));
	} while (np->u.usage.gfn != XEN_NUMA_USAGE_END);
	if (mapped != PAGES)
		fail("%" PRIu64 " pages at the end, %d were populated", mapped, PAGES);
}

static int absent(void)
{
	for (uint32_t op = 0; op < 4; op++) {
		int error;

		prepare(op);
		error = call();
		if (error != ENOSYS && error != EOPNOTSUPP)
			fail("op %" PRIu32 ": %s", op, error ? strerror(error) : "accepted");
	}
	if (!failures)
		puts("probe: absent");
	return !!failures;
}

int main(int argc, char **argv)
{
	struct xen_domctl_createdomain create = {
		.flags = XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap,
		.max_vcpus = 1,
		.max_grant_frames = 1,
		.grant_opts = XEN_DOMCTL_GRANT_version(1),
		.arch.emulation_flags = XEN_X86_EMU_LAPIC,
	};
	static xen_pfn_t gfns[PAGES];

	xcall = xencall_open(NULL, 0);
	xch = xc_interface_open(NULL, NULL, 0);
	domctl = xcall ? xencall_alloc_buffer(xcall, sizeof(*domctl)) : NULL;
	if (argc != 2 || !domctl || !xch) {
		fprintf(stderr, "usage: domctl-probe SEED | --absent, in dom0\n");
		return 2;
	}
	if (!strcmp(argv[1], "--absent"))
		return absent();

	seed = strtoull(argv[1], NULL, 0) + 0x9e3779b97f4a7c15u;	/* which may not be 0 */
	for (unsigned int i = 0; i < PAGES; i++)
		gfns[i] = i;
	if (xc_domain_create(xch, &domid, &create) || xc_domain_setmaxmem(xch, domid, -1) ||
	    xc_set_paging_mempool_size(xch, domid, 8 << 20) ||
	    xc_domain_populate_physmap_exact(xch, domid, PAGES, 0, 0, gfns)) {
		perror("domctl-probe: cannot make a domain");
		return 2;
	}

	probe_common();
	probe_set();
	probe_answers();
	probe_random();
	check_domain();

	if (xc_domain_destroy(xch, domid))
		fail("destroy: %s", strerror(errno));
	prepare(XEN_DOMCTL_NUMA_POLICY_GET);
	expect_refusal("destroyed domain");

	if (!failures)
		printf("probe: seed %s: %u calls, %u refused, all answered\n", argv[1], calls, refused);
	return !!failures;
}
