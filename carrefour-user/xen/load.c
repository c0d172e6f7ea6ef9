/* SPDX-License-Identifier: GPL-2.0-only */
/* How busy nodes and domains are, and where domains may and prefer to run: what heal/ is told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/xen.h"
#include "xen/private.h"

/* The first one of its core. */
static bool is_first(unsigned int cpu)
{
	const xc_cputopo_t *t = xen_cpus.topology;
	unsigned int i;

	for (i = 0; i < cpu; i++)
		if (t[i].node == t[cpu].node && t[i].socket == t[cpu].socket && t[i].core == t[cpu].core)
			return false;
	return true;
}

int xen_node_loads(struct xen_node_load load[NODES_MAX])
{
	xc_cpuinfo_t *info = calloc(xen_cpus.nr + 1, sizeof(*info));
	int known = 0, error = 0, i;

	memset(load, 0, NODES_MAX * sizeof(*load));
	if (!info)
		return ENOMEM;
	if (xc_getcpuinfo(xen_xc, xen_cpus.nr, info, &known))
		error = errno;
	/* CPUs may have come and gone since the host was looked at: what both know counts. */
	for (i = 0; !error && i < known && i < (int)xen_cpus.nr; i++) {
		unsigned int node = xen_cpus.topology[i].node;

		if (node >= xen_nodes())
			continue;
		load[node].cpus++;
		load[node].cores += is_first(i);
		load[node].idle_ns += info[i].idletime;
	}
	free(info);
	return error;
}

/* Xen tells how many nodes of its own a domain has only to those that have room for them. */
static bool has_vnuma(unsigned int domid)
{
	uint32_t nodes = 0, ranges = 0, vcpus = 0;

	return !xc_domain_getvnuma(xen_xc, domid, &nodes, &ranges, &vcpus, NULL, NULL, NULL) || errno == ENOBUFS;
}

/* Xen's affinities say nothing of the pool. One that is gone by now has no CPUs. */
static int nodes_of_pool(uint32_t pool, uint64_t *nodes)
{
	xc_cpupoolinfo_t *info = xc_cpupool_getinfo(xen_xc, pool);

	*nodes = 0;
	if (!info)
		return errno == ENOENT ? 0 : errno;
	/* Asked for one that is not there, Xen tells of the next. */
	if (info->cpupool_id == pool)
		*nodes = xen_nodes_of_map(info->cpumap);
	xc_cpupool_infofree(xen_xc, info);
	return 0;
}

int xen_domain_load(unsigned int domid, struct xen_domain_load *load)
{
	xc_domaininfo_t info;
	unsigned int all, v;
	uint64_t pool;
	int error;

	*load = (struct xen_domain_load){ .vcpus = 0 };
	if (xc_domain_getinfo_single(xen_xc, domid, &info))
		return errno;
	if (info.flags & XEN_DOMINF_dying)
		return ESRCH;
	all = info.max_vcpu_id == XEN_INVALID_MAX_VCPU_ID ? 0 : info.max_vcpu_id + 1;
	load->vcpus = info.nr_online_vcpus;
	load->cpu_ns = info.cpu_time;
	load->vnuma = has_vnuma(domid);
	error = nodes_of_pool(info.cpupool, &pool);
	if (error)
		return error;
	load->each = pool;
	for (v = 0; v < all; v++) {
		uint64_t may, prefers;

		/* There need not be a vCPU of each number. */
		if (!xen_vcpu_affinity(domid, v, &may, &prefers))
			continue;
		may &= pool;
		load->each &= may;
		load->may |= may;
		load->prefers |= prefers;
	}
	/* Without vCPUs there is none that may. */
	load->each &= load->may;
	return 0;
}
