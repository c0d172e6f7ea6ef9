/* SPDX-License-Identifier: GPL-2.0-only */
/* xen/host.c and xen/census.c with a stand-in for libxenctrl: a host, and domains. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

#include "chance.h"
#include "xen/xen.h"

#define NODES 2
#define CPUS 8

static uint32_t max_vcpu_id;
static unsigned int pinned_to;		/* a node, for all vCPUs */
static unsigned int nodes_with_cpus = NODES;	/* the first ones */
#define UNKNOWN XEN_INVALID_NODE_DIST
static const uint32_t distances[NODES * NODES] = { 10, 17, UNKNOWN, 10 };

xc_interface *xc_interface_open(xentoollog_logger *log, xentoollog_logger *build, unsigned int flags)
{
	(void)log, (void)build, (void)flags;
	return (xc_interface *)&max_vcpu_id;
}

int xc_interface_close(xc_interface *xch)
{
	(void)xch;
	return 0;
}

xenforeignmemory_handle *xenforeignmemory_open(struct xentoollog_logger *log, unsigned int flags)
{
	(void)log, (void)flags;
	return (xenforeignmemory_handle *)&max_vcpu_id;
}

int xenforeignmemory_close(xenforeignmemory_handle *f)
{
	(void)f;
	return 0;
}

int xc_numainfo(xc_interface *xch, unsigned int *max, xc_meminfo_t *meminfo, uint32_t *distance)
{
	unsigned int n;

	(void)xch;
	for (n = 0; meminfo && n < NODES && n < *max; n++)
		meminfo[n] = (xc_meminfo_t){ .memsize = 1 << 30, .memfree = 1 << 20 };
	/* As Xen does it: as many columns as there are nodes, whatever there is room for. */
	for (n = 0; distance && n < NODES * NODES; n++)
		distance[n] = distances[n];
	*max = NODES;
	return 0;
}

int xc_cputopoinfo(xc_interface *xch, unsigned int *max, xc_cputopo_t *cputopo)
{
	unsigned int n;

	(void)xch;
	for (n = 0; cputopo && n < CPUS && n < *max; n++)
		cputopo[n].node = n * nodes_with_cpus / CPUS;
	*max = CPUS;
	return 0;
}

xc_cpumap_t xc_cpumap_alloc(xc_interface *xch)
{
	(void)xch;
	return calloc(1, CPUS);
}

int xc_cpumap_testcpu(int cpu, xc_cpumap_t map)
{
	return map[cpu / 8] >> cpu % 8 & 1;
}

int xc_domain_getinfo_single(xc_interface *xch, uint32_t domid, xc_domaininfo_t *info)
{
	(void)xch;
	*info = (xc_domaininfo_t){ .domain = domid, .max_vcpu_id = max_vcpu_id };
	return 0;
}

int xc_vcpu_getaffinity(xc_interface *xch, uint32_t domid, int vcpu, xc_cpumap_t hard, xc_cpumap_t soft, uint32_t flags)
{
	(void)xch, (void)domid, (void)vcpu, (void)flags;
	assert_true(max_vcpu_id != XEN_INVALID_MAX_VCPU_ID && vcpu <= (int)max_vcpu_id);
	hard[0] = pinned_to ? 0xf0 : 0x0f;
	soft[0] = 0xff;
	return 0;
}

static unsigned int nr_domains;

static bool is_dying(unsigned int id)
{
	return id % 7 == 3;
}

/* Of every second number; as Xen, from @first on. */
int xc_domain_getinfolist(xc_interface *xch, uint32_t first, unsigned int max, xc_domaininfo_t *info)
{
	unsigned int id, nr = 0;

	(void)xch;
	for (id = first + first % 2; id < 2 * nr_domains && nr < max; id += 2) {
		info[nr] = (xc_domaininfo_t){ .domain = id, .flags = is_dying(id) ? XEN_DOMINF_dying : 0 };
		info[nr].flags |= id ? XEN_DOMINF_hvm_guest : 0;
		info[nr++].handle[15] = id;
	}
	return nr;
}

int xc_domain_numa_move_stats(xc_interface *xch, uint32_t domid, struct xen_domctl_numa_policy_stats *stats)
{
	(void)xch;
	*stats = (struct xen_domctl_numa_policy_stats){ .pages = { [XEN_NUMA_MOVE_LATE] = domid } };
	return 0;
}

/* Of each size one more on the last node than of the one before; as libxenctrl, it clears all that there is room for. */
int xc_domain_numa_usage(xc_interface *xch, uint32_t domid, uint64_t *counts, uint32_t nr_nodes)
{
	unsigned int size;

	(void)xch;
	memset(counts, 0, nr_nodes * XEN_NUMA_USAGE_SIZES * sizeof(*counts));
	for (size = 0; size < XEN_NUMA_USAGE_SIZES; size++)
		counts[(NODES - 1) * XEN_NUMA_USAGE_SIZES + size] = size + 1;
	errno = EOPNOTSUPP;
	return domid == 5 ? 0 : -1;
}

static void memory_is_by_node(void **unused)
{
	uint64_t bytes[NODES_MAX] = { 77 }, moves[NR_RESULTS], of_host[NODES_MAX];

	(void)unused;
	assert_int_equal(xen_open(), 0);
	assert_int_equal(xen_memory(5, bytes), 0);
	assert_true(!bytes[0] && bytes[1] == (1 << 12) + (2 << 21) + (3ULL << 30) && !bytes[NODES_MAX - 1]);
	assert_int_equal(xen_memory(6, bytes), EOPNOTSUPP);
	assert_int_equal(xen_moves(5, moves), 0);
	assert_true(moves[RESULT_LATE] == 5 && !moves[RESULT_DONE] && !moves[RESULT_NOT_TRIED]);
	xen_host_memory(of_host);
	assert_true(of_host[1] == 1 << 30 && !of_host[2]);
	xen_close();
}

static void all_domains_are_listed(void **unused)
{
	struct xen_domain *domain = NULL;
	unsigned int nr, i, id;

	(void)unused;
	assert_int_equal(xen_open(), 0);
	for (nr_domains = 0; nr_domains < 1100; nr_domains += nr_domains % 256 == 255 ? 1 : 85) {
		assert_int_equal(xen_domains(&domain, &nr), 0);
		for (i = id = 0; id < 2 * nr_domains; id += 2)
			if (!is_dying(id)) {
				assert_true(domain[i].id == id && domain[i].pv == !id && domain[i].uuid[15] == (uint8_t)id);
				i++;
			}
		assert_int_equal(nr, i);
	}
	free(domain);
	xen_close();
}

static void vcpus_that_are_not_there_yet(void **unused)
{
	uint64_t free_bytes[NODES_MAX] = { 0 };
	uint8_t *nodes = NULL;
	unsigned int nr = 7, i;

	(void)unused;
	assert_int_equal(xen_open(), 0);
	assert_int_equal(xen_nodes(), NODES);
	assert_int_equal(xen_look_at_host(free_bytes), 0);
	/* It has some, none, none again, and some. */
	for (i = 0; i < 6; i++) {
		max_vcpu_id = i % 3 ? XEN_INVALID_MAX_VCPU_ID : 3;
		pinned_to = i > 2;
		assert_int_equal(xen_vcpu_nodes(5, &nodes, &nr), 0);
		assert_int_equal(nr, i % 3 ? 0 : 4);
		if (nr)
			assert_true(nodes[0] == pinned_to && nodes[3] == pinned_to);
	}
	free(nodes);
	xen_close();
}

/* One test alone: its name. */
static void the_machine_is_known(void **unused)
{
	uint64_t free_bytes[NODES_MAX];
	const struct topology *t;

	(void)unused;
	nodes_with_cpus = 1;
	assert_int_equal(xen_open(), 0);
	assert_int_equal(xen_look_at_host(free_bytes), 0);
	t = xen_topology();
	assert_int_equal(t->cpus, 1);
	/* What Xen does not know is as far as another node is. */
	assert_true(t->distance[0][0] == 10 && t->distance[0][1] == 17 && t->distance[1][0] == DISTANCE_OTHER);
	nodes_with_cpus = NODES;
	assert_int_equal(xen_look_at_host(free_bytes), 0);
	assert_int_equal(t->cpus, 3);
	xen_close();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_that_are_not_there_yet), cmocka_unit_test(memory_is_by_node),
		cmocka_unit_test(all_domains_are_listed), cmocka_unit_test(the_machine_is_known),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("xen", tests, NULL, NULL);
}
