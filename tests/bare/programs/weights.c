// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights belong to the nodes that they were given for: other nodes, as many, do not inherit them. */
#include "bare.h"

#define NODES(a, b) (1UL << (a) | 1UL << (b))

void program(void)
{
	domid_t domid = new_domain(64, 1);
	const uint32_t given[2] = { 3, 1 };
	uint32_t weights[2];

	set_affinity(domid, NODES(0, 1));
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0, given, 2);
	get_weights(domid, weights, 2);
	if (weights[0] != given[0] || weights[1] != given[1])
		crash("the weights are not what was given");
	set_affinity(domid, NODES(2, 3));
	get_weights(domid, weights, 2);
	note("weight of node 2", weights[0]);
	note("weight of node 3", weights[1]);
	promise("other nodes weigh the same", weights[0] == weights[1]);
}
