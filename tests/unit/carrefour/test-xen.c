/* SPDX-License-Identifier: GPL-2.0-only */
/* xen/host.c with a stand-in for libxenctrl: a host, and domains with vCPUs or without. */
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

	(void)xch, (void)distance;
	for (n = 0; meminfo && n < NODES && n < *max; n++)
		meminfo[n] = (xc_meminfo_t){ .memsize = 1 << 30, .memfree = 1 << 20 };
	*max = NODES;
	return 0;
}

int xc_cputopoinfo(xc_interface *xch, unsigned int *max, xc_cputopo_t *cputopo)
{
	unsigned int n;

	(void)xch;
	for (n = 0; cputopo && n < CPUS && n < *max; n++)
		cputopo[n].node = n * NODES / CPUS;
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
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_that_are_not_there_yet),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("xen", tests, NULL, NULL);
}
