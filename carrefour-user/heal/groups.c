/* SPDX-License-Identifier: GPL-2.0-only */
#include "heal/groups.h"

static bool near(const struct heal_host *host, const struct heal_rules *rules, unsigned int a, unsigned int b)
{
	const struct topology *t = host->topology;

	return a == b || (t && t->distance[a][b] <= rules->near_distance && t->distance[b][a] <= rules->near_distance);
}

static void add(struct heal_groups *g, unsigned int group, unsigned int n, const struct heal_node *node, uint64_t reserve)
{
	g->of[n] = group;
	g->nodes[group] |= 1ULL << n;
	g->cpus[group] += node->cpus;
	g->cores[group] += node->cores;
	g->bytes[group] += node->bytes > reserve ? node->bytes - reserve : 0;
	g->free[group] += node->free > reserve ? node->free - reserve : 0;
	if (node->crowded_ns > g->crowded_ns[group])
		g->crowded_ns[group] = node->crowded_ns;
	if (node->cpus)
		g->with_cpus |= 1ULL << group;
}

/* Near to the first of a group, not to any: a chain of near nodes would be one group from end to end. */
struct heal_groups heal_groups_of(const struct heal_host *host, const struct heal_rules *rules)
{
	struct heal_groups g = { 0 };
	unsigned int n, i;

	for (n = 0; n < host->nr_nodes; n++) {
		for (i = 0; i < g.nr; i++)
			if (near(host, rules, __builtin_ctzll(g.nodes[i]), n))
				break;
		if (i == g.nr)
			g.nr++;
		add(&g, i, n, &host->node[n], rules->reserve);
	}
	return g;
}

uint64_t heal_groups_with(const struct heal_groups *g, uint64_t nodes)
{
	uint64_t which = 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		if (g->nodes[i] & nodes)
			which |= 1ULL << i;
	return which;
}

uint64_t heal_nodes_of(const struct heal_groups *g, uint64_t which)
{
	uint64_t nodes = 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		if (which >> i & 1)
			nodes |= g->nodes[i];
	return nodes;
}
