/* SPDX-License-Identifier: GPL-2.0-only */
/* As Voron et al. define it. */
#include <math.h>

#include "common/imbalance.h"

/*
 * With few samples, equal loads look unequal: n samples on k nodes have a relative variance
 * of k / n by chance. That is taken off, or a calm guest would be called imbalanced.
 */
unsigned int imbalance(const uint64_t count[NODES_MAX], uint64_t nodes)
{
	double sum = 0, variance = 0, mean;
	unsigned int n, k = 0;

	for (n = 0; n < NODES_MAX; n++)
		if (nodes >> n & 1) {
			k++;
			sum += count[n];
		}
	if (sum <= 0)
		return 0;
	mean = sum / k;
	for (n = 0; n < NODES_MAX; n++)
		if (nodes >> n & 1)
			variance += (count[n] / mean - 1) * (count[n] / mean - 1) / k;
	variance -= k / sum;
	return variance > 0 ? 1000 * sqrt(variance) + 0.5 : 0;
}
