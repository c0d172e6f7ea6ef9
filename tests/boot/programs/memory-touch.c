// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-touch MIB [ROUNDS [PAUSE [together | in-turn]]]: runs in a guest, or is one.  Touches MIB of memory on each CPU, page by page,
 * one CPU after the other or all at once; says which gfns these were, in the order of touching.  What it has it frees at the end of a
 * round, and PAUSE seconds later it begins anew.
 *
 *	memory-touch: ready			and waits for a line
 *	memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines
 *	memory-touch: round ROUND done
 */
#include <stdlib.h>
#include <string.h>

#include "memory-gfns.h"

static size_t pages;
static char *mem[MOST_CPUS];

static void touch(long cpu)
{
	for (size_t i = 0; i < pages; i++)
		mem[cpu][i * PAGE] = 1;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1, pause = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	long cpus = cpu_count();

	pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	if (!pages)
		die_of("usage: memory-touch MIB [ROUNDS [PAUSE [together | in-turn]]]");
	wait_for_go("memory-touch: ready");
	for (unsigned int round = 1; round <= rounds; round++) {
		for (long cpu = 0; cpu < cpus; cpu++)
			mem[cpu] = allocate(pages);
		if (argc > 4 && !strcmp(argv[4], "together"))
			on_each_cpu(touch);
		else
			for (long cpu = 0; cpu < cpus; cpu++)
				on_cpu(cpu, touch);
		for (long cpu = 0; cpu < cpus; cpu++)
			print_gfns(cpu, mem[cpu], pages);
		say("memory-touch: round %u done\n", round);
		if (round < rounds)
			for (long cpu = cpus; cpu--; )
				give_back(mem[cpu], pages);
		rest(pause * 1000);
	}
	for (;;)
		rest(3600000);
}
