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

int xen_domain_load(unsigned int domid, struct xen_domain_load *load)
{
	xc_domaininfo_t info;
	unsigned int all, v;

	*load = (struct xen_domain_load){ .vcpus = 0 };
	if (xc_domain_getinfo_single(xen_xc, domid, &info))
		return errno;
	if (info.flags & XEN_DOMINF_dying)
		return ESRCH;
	all = info.max_vcpu_id == XEN_INVALID_MAX_VCPU_ID ? 0 : info.max_vcpu_id + 1;
	load->vcpus = info.nr_online_vcpus;
	load->cpu_ns = info.cpu_time;
	load->vnuma = has_vnuma(domid);
	for (v = 0; v < all; v++) {
		uint64_t may, prefers;

		/* There need not be a vCPU of each number. */
		if (!xen_vcpu_affinity(domid, v, &may, &prefers))
			continue;
		load->may |= may;
		load->prefers |= prefers;
	}
	return 0;
}
