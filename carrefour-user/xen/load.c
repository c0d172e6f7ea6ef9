/* SPDX-License-Identifier: GPL-2.0-only */
/* How busy nodes and domains are, and where domains may and prefer to run: what heal/ is told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/xen.h"
#include "xen/private.h"

struct cpus {
	xc_cputopo_t *topology;
	xc_cpuinfo_t *info;
	unsigned int nr;
};

static void forget(struct cpus *c)
{
	free(c->topology);
	free(c->info);
}

static int ask_topology(struct cpus *c)
{
	unsigned int there = 0, nr;

	*c = (struct cpus){ .nr = 0 };
	if (xc_cputopoinfo(xen_xc, &there, NULL))
		return errno;
	c->topology = calloc(there + 1, sizeof(*c->topology));
	nr = there;
	if (!c->topology)
		return ENOMEM;
	if (xc_cputopoinfo(xen_xc, &nr, c->topology))
		return errno;
	c->nr = nr < there ? nr : there;
	return 0;
}

/* After ask_topology(). CPUs may come and go between the two: what both know counts. */
static int ask_info(struct cpus *c)
{
	unsigned int nr = c->nr;
	int known = 0;

	c->info = calloc(nr + 1, sizeof(*c->info));
	if (!c->info)
		return ENOMEM;
	if (xc_getcpuinfo(xen_xc, nr, c->info, &known))
		return errno;
	c->nr = nr < (unsigned int)known ? nr : (unsigned int)known;
	return 0;
}

/* The first one of its core. */
static bool is_first(const struct cpus *c, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < cpu; i++)
		if (c->topology[i].node == c->topology[cpu].node && c->topology[i].socket == c->topology[cpu].socket &&
		    c->topology[i].core == c->topology[cpu].core)
			return false;
	return true;
}

int xen_node_loads(struct xen_node_load load[NODES_MAX])
{
	struct cpus c;
	int error = ask_topology(&c) ?: ask_info(&c);
	unsigned int i;

	memset(load, 0, NODES_MAX * sizeof(*load));
	for (i = 0; !error && i < c.nr; i++) {
		unsigned int node = c.topology[i].node;

		if (node >= xen_nodes())
			continue;
		load[node].cpus++;
		load[node].cores += is_first(&c, i);
		load[node].idle_ns += c.info[i].idletime;
	}
	forget(&c);
	return error;
}

static uint64_t nodes_of_map(const struct cpus *c, xc_cpumap_t map)
{
	uint64_t nodes = 0;
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		if (c->topology[i].node < xen_nodes() && xc_cpumap_testcpu(i, map))
			nodes |= 1ULL << c->topology[i].node;
	return nodes;
}

/* Of all of its vCPUs; there need not be one of each number. */
static int ask_affinity(unsigned int domid, unsigned int vcpus, struct xen_domain_load *load)
{
	xc_cpumap_t hard = xc_cpumap_alloc(xen_xc), soft = xc_cpumap_alloc(xen_xc);
	struct cpus c = { .nr = 0 };
	int error = hard && soft ? ask_topology(&c) : ENOMEM;
	unsigned int v;

	for (v = 0; !error && v < vcpus; v++) {
		if (xc_vcpu_getaffinity(xen_xc, domid, v, hard, soft, XEN_VCPUAFFINITY_HARD | XEN_VCPUAFFINITY_SOFT))
			continue;
		load->may |= nodes_of_map(&c, hard);
		load->prefers |= nodes_of_map(&c, soft);
	}
	forget(&c);
	free(hard);
	free(soft);
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
	unsigned int all;

	*load = (struct xen_domain_load){ .vcpus = 0 };
	if (xc_domain_getinfo_single(xen_xc, domid, &info))
		return errno;
	if (info.flags & XEN_DOMINF_dying)
		return ESRCH;
	all = info.max_vcpu_id == XEN_INVALID_MAX_VCPU_ID ? 0 : info.max_vcpu_id + 1;
	load->vcpus = info.nr_online_vcpus;
	load->cpu_ns = info.cpu_time;
	load->vnuma = has_vnuma(domid);
	return ask_affinity(domid, all, load);
}
