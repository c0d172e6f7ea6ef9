// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-churn MIB: runs in a guest.  A process on each CPU maps, fills, verifies and unmaps pieces of memory, from a page to 2 MiB, at
 * most MIB at a time in all; now and then it forks, and the child writes to copies.  So pages go from user to page table to slab and
 * from CPU to CPU, and one that is lost while it is in use is a wrong word.
 *
 *	memory-churn: second SECOND: PAGES pages freed, WRONG words wrong	of all CPUs, once a second
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define STEP 8			/* words; what is lost are pages, so a word a cache line will do */
#define PIECES 64
#define MOST_PAGES 512

static struct {
	_Atomic uint64_t freed, wrong;
} *counts;

static struct piece {
	uint64_t *mem;
	size_t pages;
	uint64_t seed;
} pieces[PIECES];

static uint64_t state;

static uint64_t rnd(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void fill(struct piece *piece)
{
	piece->seed = rnd();
	for (size_t i = 0; i < piece->pages * PAGE / 8; i += STEP)
		piece->mem[i] = piece->seed + i;
}

static uint64_t wrong(const struct piece *piece)
{
	uint64_t count = 0;

	for (size_t i = 0; i < piece->pages * PAGE / 8; i += STEP)
		count += piece->mem[i] != piece->seed + i || piece->mem[i + 1];
	return count;
}

static void map(struct piece *piece)
{
	/* as many of each order of magnitude, so that most memory is in large pieces and most pieces are small */
	piece->pages = 1 + rnd() % (MOST_PAGES >> rnd() % 9);
	piece->mem = mmap(NULL, piece->pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (piece->mem == MAP_FAILED)
		die("mmap");
	fill(piece);
}

static void unmap(struct piece *piece)
{
	counts->wrong += wrong(piece);
	munmap(piece->mem, piece->pages * PAGE);
	counts->freed += piece->pages;
	piece->mem = NULL;
}

static void copy(struct piece *piece)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child) {
		counts->wrong += wrong(piece);
		fill(piece);
		counts->wrong += wrong(piece);
		counts->freed += piece->pages;
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	counts->wrong += wrong(piece);
}

static void churn(long cpu, size_t most)
{
	cpu_set_t set;
	size_t pages = 0;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	state = cpu + 1;
	for (;;) {
		struct piece *piece = &pieces[rnd() % PIECES];

		if (!piece->mem) {
			if (pages + MOST_PAGES > most)
				continue;
			map(piece);
			pages += piece->pages;
		} else if (rnd() % 32) {
			pages -= piece->pages;
			unmap(piece);
		} else {
			copy(piece);
		}
	}
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = argc > 1 ? (strtoul(argv[1], NULL, 0) << 8) / cpus : 0;

	if (most < MOST_PAGES) {
		fprintf(stderr, "usage: memory-churn MIB: at least 2 for each CPU\n");
		return 2;
	}
	counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	for (long cpu = 0; cpu < cpus; cpu++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child)
			churn(cpu, most);
	}
	for (unsigned int second = 1; !waitpid(-1, NULL, WNOHANG); second++) {
		sleep(1);
		printf("memory-churn: second %u: %" PRIu64 " pages freed, %" PRIu64 " words wrong\n", second, counts->freed, counts->wrong);
		fflush(stdout);
	}
	printf("memory-churn: a process has died\n");
	return 1;
}
