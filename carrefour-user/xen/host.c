/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection to Xen, and what there is to know of the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xentoollog.h>

#include "xen/xen.h"
#include "xen/private.h"

xc_interface *xen_xc;
xenforeignmemory_handle *xen_fmem;
static unsigned int nr_nodes;
static xc_meminfo_t meminfo[NODES_MAX];
static struct topology topology;

struct xen_cpus xen_cpus;
static xc_cpumap_t hard, soft;

/* libxenctrl's messages have less in them than what the daemon says of the same errno. */
static void log_nothing(xentoollog_logger *logger, xentoollog_level level, int errnoval, const char *context,
			const char *format, va_list al)
{
	(void)logger, (void)level, (void)errnoval, (void)context, (void)format, (void)al;
}

static xentoollog_logger nothing = { .vmessage = log_nothing };

/* From each of @nr nodes to each. Xen knows none where a node, or the machine's table, is not there. */
static void take_distances(const uint32_t *distance, unsigned int nr)
{
	unsigned int from, to;

	topology = topology_flat();
	for (from = 0; from < nr_nodes; from++)
		for (to = 0; to < nr_nodes; to++)
			if (distance[from * nr + to] >= DISTANCE_OWN && distance[from * nr + to] <= UINT8_MAX)
				topology.distance[from][to] = distance[from * nr + to];
}

static int read_nodes(void)
{
	uint32_t *distance = malloc(NODES_MAX * NODES_MAX * sizeof(*distance));
	unsigned int nr = NODES_MAX;
	int error = 0;

	if (!distance)
		return ENOMEM;
	memset(meminfo, 0, sizeof(meminfo));
	/* Asked for as many as there are, Xen says how many that is. */
	if (xc_numainfo(xen_xc, &nr, meminfo, distance))
		error = errno;
	nr_nodes = nr < NODES_MAX ? nr : NODES_MAX;
	if (!error && nr_nodes)
		take_distances(distance, nr);
	free(distance);
	return error ? error : nr_nodes ? 0 : ENODEV;
}

int xen_open(void)
{
	int error;

	xen_xc = xc_interface_open(&nothing, &nothing, 0);
	if (!xen_xc)
		return errno;
	xen_fmem = xenforeignmemory_open(&nothing, 0);
	if (!xen_fmem)
		return errno;
	error = read_nodes();
	if (error)
		return error;
	hard = xc_cpumap_alloc(xen_xc);
	soft = xc_cpumap_alloc(xen_xc);
	return hard && soft ? 0 : ENOMEM;
}

void xen_close(void)
{
	free(xen_cpus.topology);
	xen_cpus = (struct xen_cpus){ .nr = 0 };
	free(hard);
	free(soft);
	if (xen_fmem)
		xenforeignmemory_close(xen_fmem);
	if (xen_xc)
		xc_interface_close(xen_xc);
}

unsigned int xen_nodes(void)
{
	return nr_nodes;
}

const struct topology *xen_topology(void)
{
	return &topology;
}

static int read_cpus(void)
{
	unsigned int there = 0, nr, i;
	xc_cputopo_t *new;

	if (xc_cputopoinfo(xen_xc, &there, NULL))
		return errno;
	new = realloc(xen_cpus.topology, (there + 1) * sizeof(*new));
	if (!new)
		return ENOMEM;
	/* Should the next call fail, it has no old ones beyond its end. */
	xen_cpus = (struct xen_cpus){ .topology = new, .nr = 0 };
	nr = there;
	if (xc_cputopoinfo(xen_xc, &nr, new))
		return errno;
	xen_cpus.nr = nr < there ? nr : there;
	topology.cpus = 0;
	for (i = 0; i < xen_cpus.nr; i++)
		if (new[i].node < nr_nodes)
			topology.cpus |= 1ULL << new[i].node;
	return 0;
}

int xen_look_at_host(uint64_t free[NODES_MAX])
{
	unsigned int nr = nr_nodes, n;
	int error = read_cpus();

	if (error)
		return error;
	if (xc_numainfo(xen_xc, &nr, meminfo, NULL))
		return errno;
	for (n = 0; n < nr_nodes; n++)
		free[n] = meminfo[n].memsize == XEN_INVALID_MEM_SZ ? 0 : meminfo[n].memfree;
	return 0;
}

void xen_host_memory(uint64_t bytes[NODES_MAX])
{
	unsigned int n;

	for (n = 0; n < NODES_MAX; n++)
		bytes[n] = n < nr_nodes && meminfo[n].memsize != XEN_INVALID_MEM_SZ ? meminfo[n].memsize : 0;
}

uint64_t xen_nodes_of_map(xc_cpumap_t map)
{
	uint64_t nodes = 0;
	unsigned int i;

	for (i = 0; i < xen_cpus.nr; i++)
		if (xen_cpus.topology[i].node < nr_nodes && xc_cpumap_testcpu(i, map))
			nodes |= 1ULL << xen_cpus.topology[i].node;
	return nodes;
}

bool xen_vcpu_affinity(unsigned int domid, unsigned int vcpu, uint64_t *may, uint64_t *prefers)
{
	if (xc_vcpu_getaffinity(xen_xc, domid, vcpu, hard, soft, XEN_VCPUAFFINITY_HARD | XEN_VCPUAFFINITY_SOFT))
		return false;
	*may = xen_nodes_of_map(hard);
	*prefers = xen_nodes_of_map(soft);
	return true;
}

/* NO_NODE: there are several, or none. */
static uint8_t the_one_of(uint64_t nodes)
{
	return nodes && !(nodes & (nodes - 1)) ? __builtin_ctzll(nodes) : NO_NODE;
}

int xen_vcpu_nodes(unsigned int domid, uint8_t **vcpu_node, unsigned int *nr)
{
	xc_domaininfo_t info;
	unsigned int v, all;
	uint8_t *new;

	if (xc_domain_getinfo_single(xen_xc, domid, &info))
		return errno;
	if (info.flags & XEN_DOMINF_dying)
		return ESRCH;
	/* Of one whose vCPUs have not been made, it is one less than 0. */
	all = info.max_vcpu_id + 1;
	if (info.max_vcpu_id == XEN_INVALID_MAX_VCPU_ID)
		all = 0;
	new = realloc(*vcpu_node, all ? all : 1);
	if (!new)
		return ENOMEM;
	*vcpu_node = new;
	*nr = all;
	for (v = 0; v < *nr; v++) {
		uint64_t may, prefers;

		new[v] = NO_NODE;
		/* There need not be a vCPU of each number. */
		if (!xen_vcpu_affinity(domid, v, &may, &prefers))
			continue;
		new[v] = the_one_of(may);
		if (new[v] == NO_NODE)
			new[v] = the_one_of(prefers);
	}
	return 0;
}
