/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "heal-host.h"

struct heal_vm vm[VMS];
struct heal_host host;
struct heal_plan plan;
struct topology topology;

void begin(unsigned int nodes)
{
	unsigned int n;

	memset(vm, 0, sizeof(vm));
	topology = topology_flat();
	host = (struct heal_host){ .nr_nodes = nodes, .topology = &topology, .vm = vm, .may_move = 100 * GIB };
	for (n = 0; n < nodes; n++)
		host.node[n] = (struct heal_node){ .bytes = 64 * GIB, .free = 64 * GIB, .cpus = 32, .cores = 16 };
}

struct heal_vm *add(uint64_t affinity)
{
	struct heal_vm *v = &vm[host.nr_vms++];

	*v = (struct heal_vm){ .id = host.nr_vms, .vcpus = 4, .load = 2, .usual = 2, .peak = 2, .affinity = affinity,
			       .age_ns = 1000 * HOUR, .calm_ns = UINT64_MAX };
	return v;
}

void has(struct heal_vm *v, unsigned int node, uint64_t bytes)
{
	v->bytes[node] += bytes;
	host.node[node].free -= bytes;
}

void decide_all(void)
{
	assert_true(heal_plan(&plan, &host, &heal_rules));
}

struct heal_vm *spread(void)
{
	struct heal_vm *v = add(3);

	has(v, 0, 4 * GIB);
	has(v, 1, 4 * GIB);
	return v;
}
