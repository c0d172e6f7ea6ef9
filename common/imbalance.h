/* SPDX-License-Identifier: GPL-2.0-only */
/* How unequally nodes are loaded. */
#ifndef COMMON_IMBALANCE_H
#define COMMON_IMBALANCE_H

#include <stdint.h>

#include "common/units.h"

/* The relative standard deviation of samples between these nodes, in 1/1000, without what it would be by chance. */
unsigned int imbalance(const uint64_t count[NODES_MAX], uint64_t nodes);

#endif
