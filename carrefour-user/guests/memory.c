/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares are powers of two, so that a guest that comes or goes seldom changes those of the others. */
#include "decide/decide.h"
#include "guests/guest.h"
#include "guests/memory.h"

#define PAGES_LEAST 1024
#define SAMPLES_LEAST 1024
#define SAMPLES_MAX (1U << 18)
/* Of what is left, so many parts are for pages, and one for samples. */
#define PARTS_FOR_PAGES 3

struct share memory_least(void)
{
	return (struct share){ PAGES_LEAST, SAMPLES_LEAST };
}

size_t memory_of(struct share share, unsigned int nr_nodes)
{
	return sizeof(struct guest) + 2 * sizeof(uint64_t) * nr_nodes * nr_nodes + domain_bytes(share.pages) +
	       share.samples * sizeof(struct sample);
}

unsigned int memory_guests(const struct config *c, unsigned int nr_nodes)
{
	return c->memory_mb * MIB / memory_of(memory_least(), nr_nodes);
}

struct share memory_share(const struct config *c, unsigned int nr_nodes, unsigned int sampled, unsigned int active)
{
	struct share share = memory_least();
	size_t least = sampled * memory_of(share, nr_nodes), all = c->memory_mb * MIB;
	size_t left = active && all > least ? (all - least) / active : 0, pages = left / (PARTS_FOR_PAGES + 1) * PARTS_FOR_PAGES;
	size_t base = domain_bytes(PAGES_LEAST), samples = left - pages;

	while (share.pages < c->pages && domain_bytes(2 * share.pages) - base <= pages)
		share.pages *= 2;
	if (share.pages > c->pages)
		share.pages = c->pages;
	while (share.samples < SAMPLES_MAX && (2 * share.samples - SAMPLES_LEAST) * sizeof(struct sample) <= samples)
		share.samples *= 2;
	return share;
}
