/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One budget for all guests (memory_mb): each that is sampled has the least that it needs, and what is left is divided
 * among those that are not at rest. Pure.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#include "config/config.h"

/* What a guest may take: pages that are remembered, and samples of a period. */
struct share {
	uint32_t pages;
	size_t samples;
};

/* So many guests have at least the least. */
unsigned int memory_guests(const struct config *config, unsigned int nr_nodes);

/* Of one at rest. */
struct share memory_least(void);
/* Of one that is not: @sampled guests share the budget, of which @active are not at rest. */
struct share memory_share(const struct config *config, unsigned int nr_nodes, unsigned int sampled, unsigned int active);

/* With all that goes with it. */
size_t memory_of(struct share share, unsigned int nr_nodes);

#endif
