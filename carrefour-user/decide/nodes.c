/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "decide/nodes.h"

struct topology topology_flat(void)
{
	struct topology flat = { .cpus = ~0ULL };
	unsigned int n;

	memset(flat.distance, DISTANCE_OTHER, sizeof(flat.distance));
	for (n = 0; n < NODES_MAX; n++)
		flat.distance[n][n] = DISTANCE_OWN;
	return flat;
}

static uint64_t below(unsigned int nr)
{
	return nr < NODES_MAX ? (1ULL << nr) - 1 : ~0ULL;
}

bool topology_is_flat(const struct topology *t, unsigned int nr)
{
	unsigned int a, b;

	if (~t->cpus & below(nr))
		return false;
	for (a = 0; a < nr; a++)
		for (b = 0; b < nr; b++)
			if (t->distance[a][b] != (a == b ? DISTANCE_OWN : t->distance[0][1]))
				return false;
	return true;
}

unsigned int nodes_distance(const struct nodes *n, unsigned int from, unsigned int to)
{
	if (n->topology)
		return n->topology->distance[from][to];
	return from == to ? DISTANCE_OWN : DISTANCE_OTHER;
}

bool nodes_local(const struct nodes *n, unsigned int from, unsigned int on)
{
	return from == on || nodes_distance(n, from, on) <= nodes_distance(n, from, n->wanted[from]);
}

static uint8_t nearest_home(const struct nodes *n, unsigned int from)
{
	unsigned int to, distance, least = UINT8_MAX + 1, nr = 0;
	uint8_t near[NODES_MAX];

	for (to = 0; to < n->nr; to++) {
		distance = nodes_distance(n, from, to);
		if (!(n->home >> to & 1) || distance > least)
			continue;
		if (distance < least)
			nr = 0;
		least = distance;
		near[nr++] = to;
	}
	return nr ? near[from % nr] : from;
}

struct nodes nodes_of(const struct topology *topology, unsigned int nr, uint64_t home)
{
	struct nodes n = { .nr = nr, .topology = topology, .home = home & below(nr) };
	unsigned int from;

	n.with_cpus = topology ? n.home & topology->cpus : n.home;
	if (!n.with_cpus)
		n.with_cpus = n.home;
	for (from = 0; from < nr; from++)
		n.wanted[from] = n.home >> from & 1 ? from : nearest_home(&n, from);
	return n;
}
