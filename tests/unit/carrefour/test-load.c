/* SPDX-License-Identifier: GPL-2.0-only */
/* xen/load.c and xen/host.c with a stand-in for libxenctrl: a host of two nodes, and a domain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>

#include "chance.h"
#include "xen/private.h"
#include "xen/xen.h"

#define NODES 2
#define CPUS 8

static unsigned int cpus_there = CPUS, cpus_known = CPUS;
static unsigned int readings;		/* of the topology */
static int topology_error, info_error, vnuma_error;
static uint64_t hard_cpus, soft_cpus;	/* of vCPU 0; vCPU 1 is not there, vCPU 2 has all */
static uint64_t pool_cpus;		/* of pool 3 */
static int pool_error;
static xc_domaininfo_t domain;

xc_interface *xc_interface_open(xentoollog_logger *log, xentoollog_logger *build, unsigned int flags)
{
	(void)log, (void)build, (void)flags;
	return (xc_interface *)&domain;
}

int xc_interface_close(xc_interface *xch)
{
	(void)xch;
	return 0;
}

xenforeignmemory_handle *xenforeignmemory_open(struct xentoollog_logger *log, unsigned int flags)
{
	(void)log, (void)flags;
	return (xenforeignmemory_handle *)&domain;
}

int xenforeignmemory_close(xenforeignmemory_handle *f)
{
	(void)f;
	return 0;
}

int xc_numainfo(xc_interface *xch, unsigned int *max, xc_meminfo_t *meminfo, uint32_t *distance)
{
	(void)xch, (void)meminfo;
	if (distance)
		memset(distance, 0, NODES * NODES * sizeof(*distance));
	*max = NODES;
	return 0;
}

static int fails(int error)
{
	errno = error;
	return error ? -1 : 0;
}

/* CPUs 0 to 3 are on node 0, two threads a core; 4 to 6 on node 1, each with a core; CPU 7 is offline. */
int xc_cputopoinfo(xc_interface *xch, unsigned int *max, xc_cputopo_t *cputopo)
{
	unsigned int n;

	(void)xch;
	for (n = 0; cputopo && n < cpus_there && n < *max; n++)
		cputopo[n] = (xc_cputopo_t){ .core = n < 4 ? n / 2 : n, .socket = n / 4, .node = n == 7 ? XEN_INVALID_NODE_ID : n / 4 };
	*max = cpus_there;
	readings += !!cputopo;
	return fails(topology_error);
}

int xc_getcpuinfo(xc_interface *xch, int max, xc_cpuinfo_t *info, int *nr)
{
	int n;

	(void)xch;
	*nr = (int)cpus_known < max ? (int)cpus_known : max;
	for (n = 0; n < *nr; n++)
		info[n].idletime = 1ULL << n;
	return fails(info_error);
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

int xc_vcpu_getaffinity(xc_interface *xch, uint32_t id, int vcpu, xc_cpumap_t hard, xc_cpumap_t soft, uint32_t flags)
{
	(void)xch, (void)id;
	assert_int_equal(flags, XEN_VCPUAFFINITY_HARD | XEN_VCPUAFFINITY_SOFT);
	assert_true(vcpu <= (int)domain.max_vcpu_id);
	if (vcpu == 1)
		return fails(ESRCH);
	*hard = vcpu ? 0xff : hard_cpus;
	*soft = vcpu ? 0xff : soft_cpus;
	return 0;
}

xc_cpupoolinfo_t *xc_cpupool_getinfo(xc_interface *xch, uint32_t pool)
{
	xc_cpupoolinfo_t *info;

	if (fails(pool_error ? pool_error : pool > 3 ? ENOENT : 0))
		return NULL;
	info = calloc(1, sizeof(*info));
	info->cpupool_id = 3;
	info->cpumap = xc_cpumap_alloc(xch);
	*info->cpumap = pool_cpus;
	return info;
}

void xc_cpupool_infofree(xc_interface *xch, xc_cpupoolinfo_t *info)
{
	(void)xch;
	free(info->cpumap);
	free(info);
}

int xc_domain_getinfo_single(xc_interface *xch, uint32_t id, xc_domaininfo_t *info)
{
	(void)xch;
	*info = domain;
	return fails(id == 7 ? 0 : ESRCH);
}

int xc_domain_getvnuma(xc_interface *xch, uint32_t id, uint32_t *nodes, uint32_t *ranges, uint32_t *vcpus, xen_vmemrange_t *range,
		       unsigned int *distance, unsigned int *node)
{
	(void)xch, (void)id;
	/* Without room for any, there is nothing to write to. */
	assert_true(!*nodes && !*ranges && !*vcpus && !range && !distance && !node);
	return fails(vnuma_error);
}

static void look(void)
{
	uint64_t room[NODES_MAX];

	assert_int_equal(xen_look_at_host(room), topology_error);
}

static void begin(void)
{
	cpus_there = cpus_known = CPUS;
	topology_error = info_error = 0;
	vnuma_error = EOPNOTSUPP;
	hard_cpus = soft_cpus = pool_cpus = 0xff;
	pool_error = 0;
	domain = (xc_domaininfo_t){ .domain = 7, .cpupool = 3, .max_vcpu_id = 0, .nr_online_vcpus = 1, .cpu_time = 99 };
	assert_int_equal(xen_open(), 0);
	look();
}

static void nodes_have_cpus_cores_and_idle_time(void **unused)
{
	struct xen_node_load load[NODES_MAX];

	(void)unused;
	begin();
	assert_int_equal(xen_node_loads(load), 0);
	assert_true(load[0].cpus == 4 && load[0].cores == 2 && load[0].idle_ns == 15);
	assert_true(load[1].cpus == 3 && load[1].cores == 3 && load[1].idle_ns == 16 + 32 + 64);
	assert_true(!load[2].cpus && !load[2].idle_ns);
	/* What only one of the calls knows, does not count. */
	cpus_known = 5;
	assert_int_equal(xen_node_loads(load), 0);
	assert_true(load[0].cpus == 4 && load[1].cpus == 1);
	cpus_known = CPUS, cpus_there = 4;
	look();
	assert_int_equal(xen_node_loads(load), 0);
	assert_true(load[0].cpus == 4 && !load[1].cpus);
	topology_error = EACCES;
	look();
	info_error = EPERM;
	assert_int_equal(xen_node_loads(load), EPERM);
	xen_close();
}

static void a_domain_may_run_and_prefers(void **unused)
{
	struct xen_domain_load load;

	(void)unused;
	begin();
	hard_cpus = 0x30, soft_cpus = 0x83;
	assert_int_equal(xen_domain_load(7, &load), 0);
	/* An offline CPU is on no node. */
	assert_true(load.vcpus == 1 && load.cpu_ns == 99 && load.may == 2 && load.prefers == 1 && !load.vnuma);
	/* There is no vCPU 1, and what vCPU 2 may, the domain may. */
	domain.max_vcpu_id = 2;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(load.may == 3 && load.prefers == 3);
	/* ... but not each of them; nor what is not in the pool. */
	assert_true(load.each == 2);
	hard_cpus = 0xff;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(load.each == 3);
	pool_cpus = 0x0f;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(load.may == 1 && load.each == 1);
	domain.cpupool = 2;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(!load.may && !load.each);
	domain.cpupool = 4;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(!load.may && !load.each);
	pool_error = EPERM;
	assert_int_equal(xen_domain_load(7, &load), EPERM);
	pool_error = 0, domain.cpupool = 3;
	domain.max_vcpu_id = XEN_INVALID_MAX_VCPU_ID;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(!load.may && !load.prefers && !load.each);
	xen_close();
}

/* Of a period. */
static void one_reading_serves_all(void **unused)
{
	struct xen_node_load node[NODES_MAX];
	struct xen_domain_load load;
	uint8_t *nodes = NULL;
	unsigned int nr;

	(void)unused;
	begin();
	readings = 0;
	look();
	assert_int_equal(xen_node_loads(node), 0);
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_int_equal(xen_vcpu_nodes(7, &nodes, &nr), 0);
	assert_int_equal(readings, 1);
	free(nodes);
	xen_close();
}

static void what_a_domain_may_be(void **unused)
{
	struct xen_domain_load load;

	(void)unused;
	begin();
	vnuma_error = ENOBUFS;
	assert_int_equal(xen_domain_load(7, &load), 0);
	assert_true(load.vnuma);
	domain.flags = XEN_DOMINF_dying;
	assert_int_equal(xen_domain_load(7, &load), ESRCH);
	assert_int_equal(xen_domain_load(8, &load), ESRCH);
	xen_close();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_cpus_cores_and_idle_time), cmocka_unit_test(a_domain_may_run_and_prefers),
		cmocka_unit_test(what_a_domain_may_be), cmocka_unit_test(one_reading_serves_all),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
