// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-access MIB [PAUSE]: a guest whose accesses are sampled.  Each vCPU reads MIB of memory and writes another MIB, over and over,
 * with PAUSE ms in between; nobody else accesses these.  Which gfns they are is said first:
 *
 *	memory-access: reads
 *	memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines
 *	memory-access: writes
 *	memory-touch: cpu CPU GFN+PAGES …
 *	memory-access: ready			the first pass begins
 *	memory-access: pass PASS of all		each second, of the slowest
 *
 * At a line from the console, all vCPUs but the first go.
 */
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "memory-gfns.h"

static size_t pages;
static unsigned int pause_ms;
static volatile char *reads[MOST_CPUS], *writes[MOST_CPUS];
static atomic_uint passes[MOST_CPUS];
static atomic_bool alone;

/* An access needs a page; and a read must not be what gives it one. */
static void fill(long cpu)
{
	memset((char *)reads[cpu], 1, pages * PAGE);
	memset((char *)writes[cpu], 1, pages * PAGE);
}

static void pass(long cpu)
{
	for (size_t i = 0; i < pages; i++) {
		(void)reads[cpu][i * PAGE];
		writes[cpu][i * PAGE] = 2;
	}
	atomic_fetch_add(&passes[cpu], 1);
	if (pause_ms)
		rest(pause_ms);
	if (cpu && alone)
		leave();
	if (!cpu && line_came())
		alone = true;
}

static void report(unsigned int second)
{
	(void)second;
	say("memory-access: pass %u of all\n", slowest(passes));
}

static void print_all(volatile char *mem[])
{
	for (long cpu = 0; cpu < cpu_count(); cpu++)
		print_gfns(cpu, (const char *)mem[cpu], pages);
}

int main(int argc, char **argv)
{
	pages = argc > 1 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	pause_ms = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	if (!pages)
		die_of("usage: memory-access MIB [PAUSE]");
	for (long cpu = 0; cpu < cpu_count(); cpu++) {
		reads[cpu] = allocate(pages);
		writes[cpu] = allocate(pages);
	}
	on_each_cpu(fill);
	say("memory-access: reads\n");
	print_all(reads);
	say("memory-access: writes\n");
	print_all(writes);
	say("memory-access: ready\n");
	for_ever(pass, report);
}
