// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patterns PATTERN CPU,CPU… MIB PASSES
 * The textbook patterns of a parallel program's memory, one thread pinned on each CPU.  PATTERN is
 *
 *   master       one thread initializes everything, then each works on its own part
 *   partitioned  each initializes its own part and works on it
 *   random       each initializes its own part, then all read everywhere, at random
 *   phases       each initializes its own part and works on it, and halfway turns to the part of another thread
 *
 * A pass touches every cache line once: it adds one to a word in it, or, for random, reads as many lines.  All words are
 * checked, so that a lost write is a failure and not a fast run.
 */
#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "threads.h"

#define LINE 64
#define WORDS_A_LINE (LINE / sizeof(uint64_t))

enum pattern { MASTER, PARTITIONED, RANDOM, PHASES, PATTERNS };

static const char *const names[PATTERNS] = { "master", "partitioned", "random", "phases" };
static enum pattern pattern;
static volatile uint64_t *lines;
static unsigned long count, part, passes;
static unsigned int threads;
static unsigned long wrong;

static volatile uint64_t *word(unsigned long line)
{
	return &lines[line * WORDS_A_LINE];
}

static void initialize(unsigned long first, unsigned long number)
{
	for (unsigned long line = first; line < first + number; line++)
		*word(line) = line;
}

static void add(unsigned long first)
{
	for (unsigned long line = first; line < first + part; line++)
		(*word(line))++;
}

static void read_anywhere(unsigned int index, unsigned long number)
{
	uint64_t state = 0x9e3779b97f4a7c15u * (index + 1);
	unsigned long bad = 0;

	while (number--) {
		unsigned long line;

		/* Knuth's MMIX generator; the high bits are the good ones */
		state = state * 6364136223846793005u + 1442695040888963407u;
		line = (state >> 32) % count;
		bad += *word(line) != line;
	}
	__atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
}

static void check(unsigned long first, unsigned long added)
{
	unsigned long bad = 0;

	for (unsigned long line = first; line < first + part; line++)
		bad += *word(line) != line + added;
	__atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
}

static void work(unsigned int index)
{
	unsigned long own = index * part;
	unsigned long other = (index + threads / 2) % threads * part;

	if (pattern == MASTER && !index)
		initialize(0, count);
	else if (pattern != MASTER)
		initialize(own, part);
	meet();
	if (pattern == RANDOM) {
		read_anywhere(index, part * passes);
		return;
	}
	for (unsigned long pass = 0; pass < passes; pass++) {
		if (pattern == PHASES && pass == passes / 2)
			meet();
		add(pattern == PHASES && pass >= passes / 2 ? other : own);
	}
	check(pattern == PHASES ? other : own, passes);
}

int main(int argc, char **argv)
{
	int cpus[THREADS_MAX];
	unsigned long mib;

	if (argc != 5)
		error(2, 0, "usage: patterns master|partitioned|random|phases CPU,CPU… MIB PASSES");
	while (pattern < PATTERNS && strcmp(argv[1], names[pattern]))
		pattern++;
	if (pattern == PATTERNS)
		error(2, 0, "there is no pattern \"%s\"", argv[1]);
	threads = parse_cpus(argv[2], cpus);
	if (!threads)
		error(2, 0, "\"%s\" is not a list of CPUs", argv[2]);
	mib = number(argv[3], "MIB");
	passes = number(argv[4], "PASSES");
	if (pattern == PHASES && passes % 2)
		error(2, 0, "two phases need an even number of passes");

	part = mib * (1 << 20) / LINE / threads;
	count = part * threads;
	lines = mmap(NULL, count * LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (lines == MAP_FAILED)
		error(1, errno, "no memory of %lu MiB", mib);
	run_threads(cpus, threads, work);
	if (wrong)
		error(1, 0, "%lu lines do not hold what was written", wrong);
	printf("%s: %u threads, %lu MiB, %lu passes, all lines right\n", argv[1], threads, mib, passes);
	return 0;
}
