/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Imbalance as Voron et al. define it, between the nodes that have CPUs: memory alone, CXL or HBM, is no node that a guest
 * could have balanced itself over. The local access ratio is Carrefour's (Dashti et al., ASPLOS 2013). Instead of their load
 * of the interconnect's links, which nobody counts here, the busiest pair of nodes.
 */
#include <math.h>

#include "decide/measure.h"

static double square(double x)
{
	return x * x;
}

/*
 * With few samples, equal loads look unequal: n samples on k nodes have a relative variance
 * of k / n by chance. That is taken off, or a calm guest would be called imbalanced.
 */
static unsigned int imbalance(const double *load, uint64_t samples, const struct nodes *nodes)
{
	unsigned int n, k = 0;
	double sum = 0, variance = 0, mean;

	for (n = 0; n < nodes->nr; n++)
		if (nodes->with_cpus >> n & 1) {
			k++;
			sum += load[n];
		}
	if (!k || sum <= 0)
		return 0;
	mean = sum / k;
	for (n = 0; n < nodes->nr; n++)
		if (nodes->with_cpus >> n & 1)
			variance += square(load[n] / mean - 1) / k;
	variance -= k / (sum * samples);
	return variance > 0 ? (unsigned int)(1000 * sqrt(variance) + 0.5) : 0;
}

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
	double own[NODES_MAX], far = 0, if_spread = 0;

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
		own[a] = (double)by[a] / m.samples;
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
	m.imbalance = imbalance(m.load, m.samples, nodes);
	m.detour = 1000 * far / m.samples + 0.5;
	m.spread = 1000 * if_spread / m.samples + 0.5;
	m.own_imbalance = imbalance(own, m.samples, nodes);
	return m;
}
