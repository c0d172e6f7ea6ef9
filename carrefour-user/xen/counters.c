/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "xen/counters.h"

#define NR (offsetof(struct counters, matrix) / sizeof(uint64_t))

_Static_assert(NR == 7, "counters only");

static bool is_less(const uint64_t *a, const uint64_t *b, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (a[i] < b[i])
			return true;
	return false;
}

static void take(uint64_t *seen, uint64_t *now, size_t nr, bool anew)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		uint64_t was = anew ? 0 : seen[i];

		seen[i] = now[i];
		now[i] -= was;
	}
}

void counters_take(struct counters *seen, struct counters *now, unsigned int nr_nodes)
{
	size_t cells = (size_t)nr_nodes * nr_nodes;
	uint64_t *a = &seen->faults, *b = &now->faults;
	bool anew = is_less(b, a, NR) || is_less(now->matrix, seen->matrix, cells);

	take(a, b, NR, anew);
	take(seen->matrix, now->matrix, cells, anew);
}

void counters_clear(struct counters *c, unsigned int nr_nodes)
{
	uint64_t *matrix = c->matrix;

	*c = (struct counters){ .matrix = matrix };
	if (matrix)
		memset(matrix, 0, sizeof(*matrix) * nr_nodes * nr_nodes);
}
