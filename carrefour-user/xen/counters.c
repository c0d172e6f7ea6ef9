/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences. */
#include <stdbool.h>
#include <stddef.h>

#include "xen/counters.h"

#define NR (sizeof(struct counters) / sizeof(uint64_t))

_Static_assert(sizeof(struct counters) == (7 + NODES_MAX * NODES_MAX) * sizeof(uint64_t), "counters only");

void counters_between(struct counters *out, const struct counters *then, const struct counters *now)
{
	const uint64_t *a = (const uint64_t *)then, *b = (const uint64_t *)now;
	uint64_t *c = (uint64_t *)out;
	bool anew = false;
	size_t i;

	for (i = 0; i < NR; i++)
		anew |= b[i] < a[i];
	for (i = 0; i < NR; i++)
		c[i] = b[i] - (anew ? 0 : a[i]);
}
