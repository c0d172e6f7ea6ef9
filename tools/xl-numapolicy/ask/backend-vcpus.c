/* SPDX-License-Identifier: GPL-2.0-only */
/* On which nodes CPUs are, and the vCPUs of a domain. */
#include <string.h>

#include <libxl.h>
#include <libxl_utils.h>

#include "ask/backend.h"
#include "ask/context.h"

/* Asked for once: the machine stays what it is. NULL: it could not be. */
static const libxl_cputopology *topology(int *nr)
{
	static libxl_cputopology *cpus;
	static int nr_cpus;

	if (!cpus)
		cpus = libxl_get_cpu_topology(ctx, &nr_cpus);
	*nr = nr_cpus;
	return cpus;
}

static unsigned int node_of(const libxl_cputopology *cpus, int nr, uint32_t cpu)
{
	return cpu < (uint32_t)nr && cpus[cpu].node < NODES_MAX ? cpus[cpu].node : NO_NODE;
}

bool count_cpus(uint32_t count[NODES_MAX])
{
	const libxl_cputopology *cpus;
	int i, nr;

	memset(count, 0, NODES_MAX * sizeof(*count));
	cpus = topology(&nr);
	for (i = 0; cpus && i < nr; i++)
		if (node_of(cpus, nr, i) != NO_NODE)
			count[node_of(cpus, nr, i)]++;
	return cpus;
}

static void add_allowed(uint32_t may_run[NODES_MAX], const libxl_vcpuinfo *info, const libxl_cputopology *cpus, int nr)
{
	bool both = false, on[NODES_MAX] = { false };
	int i;

	for (i = 0; i < nr; i++)
		both |= libxl_bitmap_test(&info->cpumap, i) && libxl_bitmap_test(&info->cpumap_soft, i);
	for (i = 0; i < nr; i++)
		if (node_of(cpus, nr, i) != NO_NODE && libxl_bitmap_test(&info->cpumap, i) &&
		    (!both || libxl_bitmap_test(&info->cpumap_soft, i)))
			on[node_of(cpus, nr, i)] = true;
	for (i = 0; i < NODES_MAX; i++)
		may_run[i] += on[i];
}

enum result backend_vcpus(uint32_t domid, uint32_t vcpus[NODES_MAX], uint32_t may_run[NODES_MAX])
{
	const libxl_cputopology *cpus;
	libxl_vcpuinfo *info;
	int i, nr, nr_cpus, unused;

	memset(vcpus, 0, NODES_MAX * sizeof(*vcpus));
	memset(may_run, 0, NODES_MAX * sizeof(*may_run));
	forget_reason();
	cpus = topology(&nr_cpus);
	info = cpus ? libxl_list_vcpu(ctx, domid, &nr, &unused) : NULL;
	if (!info)
		return RESULT_FAILED;
	for (i = 0; i < nr; i++) {
		if (!info[i].online || node_of(cpus, nr_cpus, info[i].cpu) == NO_NODE)
			continue;
		vcpus[node_of(cpus, nr_cpus, info[i].cpu)]++;
		add_allowed(may_run, &info[i], cpus, nr_cpus);
	}
	libxl_vcpuinfo_list_free(info, nr);
	return RESULT_OK;
}
