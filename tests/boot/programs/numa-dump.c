// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-dump DOMID [START END]...: what the product says of a domain's placement, for tests to check page by page.
 *
 *	policy NAME FOLLOWS-AFFINITY PLACED FALLBACK
 *	home NODE WEIGHT                           a line a home node
 *	usage NODE 4K 2M 1G                        a line a node that holds something
 *	touches WHAT=NUMBER…                       of pages that are mapped when they are touched
 *	reserve NODE PAGES                         a line a node where such pages wait
 *	pages FIRST-GFN-IN-HEX NODES ORDERS        a line 512 gfns in the ranges asked for; a digit of NODES is the node, '.'
 *	                                           no RAM; ORDERS has s, m, l for 4 KiB, 2 MiB, 1 GiB
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libxl.h>
#include <libxl_utils.h>
#include <libxlutil.h>

#define CHUNK 512

static libxl_ctx *ctx;
static uint32_t domid;

static int fail(const char *what, int rc)
{
	fprintf(stderr, "numa-dump: domain %" PRIu32 ": %s: error %d\n", domid, what, rc);
	return 1;
}

static int print_policy(void)
{
	libxl_numa_policy_info info;
	int rc, node, home = 0;

	libxl_numa_policy_info_init(&info);
	rc = libxl_domain_numa_policy_get(ctx, domid, &info);
	if (rc)
		return fail("policy", rc);
	printf("policy %s %d %" PRIu64 " %" PRIu64 "\n", xlu_numa_policy_name(info.policy), info.follows_affinity,
	       info.placed, info.fallback);
	libxl_for_each_set_bit(node, info.nodes) {
		/* one weight a home node, in ascending order */
		printf("home %d %" PRIu32 "\n", node, home < info.num_weights ? info.weights[home] : 0);
		home++;
	}
	libxl_numa_policy_info_dispose(&info);
	return 0;
}

static int print_usage(void)
{
	libxl_numa_usage usage;
	int rc;

	libxl_numa_usage_init(&usage);
	rc = libxl_domain_numa_usage_get(ctx, domid, &usage);
	if (rc)
		return fail("usage", rc);
	for (int node = 0; node < usage.num_nodes; node++) {
		const libxl_numa_node_usage *on = &usage.nodes[node];

		if (on->nr_4k || on->nr_2m || on->nr_1g)
			printf("usage %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", node, on->nr_4k, on->nr_2m, on->nr_1g);
	}
	libxl_numa_usage_dispose(&usage);
	return 0;
}

static int print_touches(void)
{
	libxl_numa_touch_stats s;
	int rc;

	libxl_numa_touch_stats_init(&s);
	rc = libxl_domain_numa_touch_stats_get(ctx, domid, &s);
	if (rc)
		return fail("touches", rc);
	printf("touches untouched=%" PRIu64 " small=%" PRIu64 " large=%" PRIu64 " by_others=%" PRIu64 " exchanged=%" PRIu64 " released=%" PRIu64 " absent=%" PRIu64 " busy=%" PRIu64
	       " unfit=%" PRIu64 " no_room=%" PRIu64 " events=%" PRIu64 " invalid=%" PRIu64 " flush_rounds=%" PRIu64 "\n",
	       s.untouched, s.small, s.large, s.by_others, s.exchanged, s.released, s.absent, s.busy, s.unfit, s.no_room, s.events, s.invalid, s.flush_rounds);
	for (int node = 0; node < s.num_reserve; node++)
		if (s.reserve[node])
			printf("reserve %d %" PRIu64 "\n", node, s.reserve[node]);
	libxl_numa_touch_stats_dispose(&s);
	return 0;
}

static int print_chunk(uint64_t first, unsigned int nr)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	libxl_numa_page pages[CHUNK];
	char nodes[CHUNK + 1] = "", orders[CHUNK + 1] = "";
	bool any = false;
	int rc;

	for (unsigned int i = 0; i < nr; i++) {
		libxl_numa_page_init(&pages[i]);
		pages[i].gfn = first + i;
	}
	rc = libxl_domain_numa_locate(ctx, domid, pages, nr);
	if (rc)
		return fail("locate", rc);
	for (unsigned int i = 0; i < nr; i++) {
		bool ram = pages[i].node != LIBXL_NUMA_NO_NODE;

		if (ram && pages[i].node >= sizeof(digits) - 1)
			return fail("node out of range", (int)pages[i].node);
		if (ram && pages[i].order != 0 && pages[i].order != 9 && pages[i].order != 18)
			return fail("no such order", (int)pages[i].order);
		nodes[i] = ram ? digits[pages[i].node] : '.';
		orders[i] = !ram ? '.' : pages[i].order == 18 ? 'l' : pages[i].order == 9 ? 'm' : 's';
		any |= ram;
	}
	if (any)
		printf("pages %" PRIx64 " %s %s\n", first, nodes, orders);
	return 0;
}

int main(int argc, char **argv)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_ERROR, 0);
	int rc;

	if (argc < 2 || argc % 2) {
		fprintf(stderr, "usage: numa-dump DOMID [START END]...\n");
		return 2;
	}
	domid = strtoul(argv[1], NULL, 10);
	if (libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log))
		return 1;
	rc = print_policy() || print_usage() || print_touches();
	for (int arg = 2; !rc && arg < argc; arg += 2) {
		uint64_t start = strtoull(argv[arg], NULL, 0), end = strtoull(argv[arg + 1], NULL, 0);

		for (uint64_t gfn = start; !rc && gfn < end; gfn += CHUNK)
			rc = print_chunk(gfn, end - gfn < CHUNK ? end - gfn : CHUNK);
	}
	libxl_ctx_free(ctx);
	xtl_logger_destroy(log);
	return rc;
}
