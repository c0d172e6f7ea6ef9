/* SPDX-License-Identifier: GPL-2.0-only */
/* Which domains the fake has, and where their memory is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake-xen.h"

void xen_host_memory(uint64_t bytes[NODES_MAX])
{
	memcpy(bytes, fake.bytes, sizeof(fake.bytes));
}

int xen_domains(struct xen_domain **domain, unsigned int *nr)
{
	int error = fake_enter(CALL_DOMAINS, 0);
	struct xen_domain *new;
	unsigned int i;

	*nr = 0;
	if (error)
		return error;
	new = realloc(*domain, (fake.nr + 1) * sizeof(*new));
	if (!new)
		return ENOMEM;
	*domain = new;
	for (i = 0; i < fake.nr; i++) {
		const struct fake_guest *g = &fake.guest[i];

		if (g->gone)
			continue;
		new[*nr] = (struct xen_domain){ .id = g->switches.id, .pv = g->pv };
		memcpy(new[(*nr)++].uuid, g->uuid, sizeof(g->uuid));
	}
	return 0;
}

int xen_memory(unsigned int domid, uint64_t bytes[NODES_MAX])
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_MEMORY, domid, &g);

	if (!error && g->pv)
		error = EOPNOTSUPP;
	if (!error)
		memcpy(bytes, g->bytes, sizeof(g->bytes));
	return error;
}

int xen_moves(unsigned int domid, uint64_t pages[NR_RESULTS])
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_STATS, domid, &g);

	if (!error && g->pv)
		error = EOPNOTSUPP;
	if (!error)
		memcpy(pages, g->moves, sizeof(g->moves));
	return error;
}

int xen_node_loads(struct xen_node_load load[NODES_MAX])
{
	int error = fake_enter(CALL_NODES, 0);
	unsigned int n;

	memset(load, 0, NODES_MAX * sizeof(*load));
	for (n = 0; !error && n < fake.nr_nodes; n++)
		load[n] = (struct xen_node_load){ .cpus = 8, .cores = 4, .idle_ns = (8 - fake.busy[n]) * fake.now };
	return error;
}

int xen_domain_load(unsigned int domid, struct xen_domain_load *load)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_LOAD, domid, &g);
	uint64_t all = (1ULL << fake.nr_nodes) - 1;

	*load = (struct xen_domain_load){ .vcpus = 0 };
	if (!error)
		*load = (struct xen_domain_load){ .vcpus = g->nr_vcpus, .cpu_ns = g->load * fake.now, .may = g->may ? g->may : all,
						  .each = g->may ? g->may : all,
						  .prefers = g->prefers ? g->prefers : all, .vnuma = g->vnuma };
	return error;
}

int xen_prefer(unsigned int domid, uint64_t nodes)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_PREFER, domid, &g);

	if (!error)
		g->prefers = nodes & ((1ULL << fake.nr_nodes) - 1);
	return error;
}

/* The node of @nodes that has most room. */
static unsigned int roomiest(uint64_t nodes, const uint64_t room[NODES_MAX])
{
	unsigned int n, best = NODES_MAX;

	for (n = 0; n < fake.nr_nodes; n++)
		if (nodes >> n & 1 && (best == NODES_MAX || room[n] > room[best]))
			best = n;
	return best;
}

int xen_gather(unsigned int domid, uint64_t nodes, uint64_t *gfn, uint64_t pages, uint64_t room[NODES_MAX], uint64_t *moved,
	       uint64_t *stays)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_GATHER, domid, &g);
	unsigned int to = roomiest(nodes, room), n;
	uint64_t left = pages << PAGE_SHIFT, bytes;

	(void)stays;
	for (n = 0; !error && n < fake.nr_nodes && left; n++) {
		if (nodes >> n & 1 || !g->bytes[n])
			continue;
		if (room[to] < 2 * MIB)
			return ENOSPC;
		bytes = g->bytes[n] < left ? g->bytes[n] : left;
		bytes = bytes < room[to] ? bytes : room[to];
		g->bytes[n] -= bytes;
		g->bytes[to] += bytes;
		room[to] -= bytes;
		left -= bytes;
		*moved += bytes >> PAGE_SHIFT;
	}
	/* Less than was wanted: there is no more. */
	if (!error)
		*gfn = left ? XEN_REBALANCED : *gfn + pages;
	return error;
}
