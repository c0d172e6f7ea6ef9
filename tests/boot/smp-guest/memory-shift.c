// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-shift MIB [EVERY-MS]: vCPU 0 touches MIB for each vCPU, and says which gfns they are; then each vCPU has a part of its own,
 * which it goes on writing and reading.  At a line from the console, or every EVERY-MS, the parts shift: the vCPU takes over that of
 * the next one, or, with EVERY-MS, of the next one and of its own in turn.
 *
 *	memory-touch: cpu CPU GFN+PAGES …	the part that is the vCPU's at first; many such lines
 *	memory-shift: ready
 *	memory-shift: second SECOND shift SHIFT pass PASS wrong WORDS	of the slowest vCPU; words that were not what was written
 */
#include <stdlib.h>

#include "guest.h"
#include "memory-gfns.h"

#define PAUSE_MS 1	/* after each pass */
#define TIMES 4		/* that a pass goes through a part */

static char *parts[MOST_CPUS];		/* whose they are at first */
static atomic_uint passes[MOST_CPUS];
static size_t pages;
static unsigned int shift, every_ms;
static uint64_t next_shift;
static atomic_uint wrong;

/* A word of each page says which page it is of, and is written again each time. */
static void go_through(char *part, size_t salt)
{
	for (size_t i = 0; i < pages; i++) {
		volatile size_t *word = (volatile size_t *)(part + i * PAGE);

		if (*word != salt + i)
			atomic_fetch_add(&wrong, 1);
		*word = salt + i;
	}
}

static void shift_parts(void)
{
	if (!every_ms) {
		shift += line_came();
	} else if (now() >= next_shift) {
		shift ^= 1;
		next_shift = now() + every_ms * UINT64_C(1000000);
	}
}

/* A part changes hands between two passes of all. */
static void pass(long cpu)
{
	long whose;

	if (!cpu)
		shift_parts();
	meet();
	whose = (cpu + shift) % cpu_count();
	meet();
	for (int times = 0; times < TIMES; times++)
		go_through(parts[whose], whose * pages);
	atomic_fetch_add(&passes[cpu], 1);
	rest(PAUSE_MS);
}

static void report(unsigned int second)
{
	say("memory-shift: second %u shift %u pass %u wrong %u\n", second, shift, slowest(passes), wrong);
}

int main(int argc, char **argv)
{
	pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	every_ms = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	if (!pages)
		die_of("usage: memory-shift MIB [EVERY-MS]");
	for (long cpu = 0; cpu < cpu_count(); cpu++) {
		parts[cpu] = allocate(pages);
		for (size_t i = 0; i < pages; i++)
			*(size_t *)(parts[cpu] + i * PAGE) = cpu * pages + i;
		print_gfns(cpu, parts[cpu], pages);
	}
	next_shift = now() + every_ms * UINT64_C(1000000);
	say("memory-shift: ready\n");
	for_ever(pass, report);
}
