/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Imbalance is judged between the nodes that have CPUs: memory alone, CXL or HBM, is no node that a guest
 * could have balanced itself over. The local access ratio is Carrefour's (Dashti et al., ASPLOS 2013). Instead of their load
 * of the interconnect's links, which nobody counts here, the busiest pair of nodes.
 */
#include <math.h>

#include "common/imbalance.h"
#include "decide/measure.h"

/* In parts of the way to the node that is wanted. */
static double detour(const struct nodes *nodes, unsigned int from, unsigned int to)
{
	return fmax(nodes_distance(nodes, from, to) / (double)nodes_distance(nodes, from, nodes->wanted[from]) - 1, 0);
}

/* The mean of the home nodes that have CPUs. */
static double spread(const struct nodes *nodes, unsigned int from)
{
	unsigned int n, k = __builtin_popcountll(nodes->with_cpus);
	double sum = 0;

	for (n = 0; n < nodes->nr; n++)
		if (nodes->with_cpus >> n & 1)
			sum += detour(nodes, from, n);
	return k ? sum / k : 0;
}

struct measure measure(const uint64_t *matrix, const struct nodes *nodes)
{
	struct measure m = { 0 };
	uint64_t on[NODES_MAX] = { 0 }, by[NODES_MAX] = { 0 }, local = 0, most = 0;
	unsigned int a, h, nr_nodes = nodes->nr;
	double far = 0, if_spread = 0;

	for (a = 0; a < nr_nodes; a++) {
		uint64_t before = m.samples;

		for (h = 0; h < nr_nodes; h++) {
			m.samples += matrix[a * nr_nodes + h];
			on[h] += matrix[a * nr_nodes + h];
			by[nodes->wanted[a]] += matrix[a * nr_nodes + h];
			if (nodes_local(nodes, a, h))
				local += matrix[a * nr_nodes + h];
			else
				far += matrix[a * nr_nodes + h] * detour(nodes, a, h);
		}
		if (m.samples > before)
			if_spread += (m.samples - before) * spread(nodes, a);
	}
	if (!m.samples)
		return m;

	for (a = 0; a < nr_nodes; a++) {
		m.load[a] = (double)on[a] / m.samples;
		for (h = a + 1; h < nr_nodes; h++) {
			uint64_t both = matrix[a * nr_nodes + h] + matrix[h * nr_nodes + a];

			if (both > most) {
				most = both;
				m.pair_from = a;
				m.pair_to = h;
			}
		}
	}
	m.local = 1000.0 * local / m.samples;
	m.pair = 1000.0 * most / m.samples;
	m.imbalance = imbalance(on, nodes->with_cpus);
	m.detour = 1000 * far / m.samples + 0.5;
	m.spread = 1000 * if_spread / m.samples + 0.5;
	m.own_imbalance = imbalance(by, nodes->with_cpus);
	return m;
}
