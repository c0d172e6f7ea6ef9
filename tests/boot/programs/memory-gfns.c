// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory-gfns.h"

#include <inttypes.h>

void print_gfns(long cpu, const char *mem, size_t pages)
{
	for (size_t i = 0, runs = 0; i < pages; runs++) {
		uint64_t first = gfn_of(mem + i * PAGE);
		long run = 1, step = 0;

		if (i + 1 < pages) {
			uint64_t next = gfn_of(mem + (i + 1) * PAGE);

			step = next == first + 1 ? 1 : next + 1 == first ? -1 : 0;
		}
		while (step && i + run < pages && gfn_of(mem + (i + run) * PAGE) == first + step * run)
			run++;
		if (runs % 6 == 0)
			say("%smemory-touch: cpu %ld", runs ? "\n" : "", cpu);
		say(" %" PRIx64 "+%ld", first, step < 0 ? -run : run);
		i += run;
	}
	say("\n");
}
