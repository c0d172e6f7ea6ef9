/* SPDX-License-Identifier: GPL-2.0-only */
/* On which nodes the vCPUs of a domain are. */
#include <string.h>

#include <libxl.h>

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

enum result backend_vcpus(uint32_t domid, uint32_t vcpus[NODES_MAX])
{
	const libxl_cputopology *cpus;
	libxl_vcpuinfo *info;
	int i, nr, nr_cpus, unused;

	memset(vcpus, 0, NODES_MAX * sizeof(*vcpus));
	forget_reason();
	cpus = topology(&nr_cpus);
	info = cpus ? libxl_list_vcpu(ctx, domid, &nr, &unused) : NULL;
	if (!info)
		return RESULT_FAILED;
	for (i = 0; i < nr; i++)
		if (info[i].online && info[i].cpu < (uint32_t)nr_cpus && cpus[info[i].cpu].node < NODES_MAX)
			vcpus[cpus[info[i].cpu].node]++;
	libxl_vcpuinfo_list_free(info, nr);
	return RESULT_OK;
}
