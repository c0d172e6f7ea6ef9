// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: fills nearly all free memory with a pattern that differs for every word, reads it back, says so in one line.
 * A page that placement lost, duplicated or swapped with another shows as a wrong word.
 * With "hold" it keeps the memory and checks it again every 2 s, so that it can be saved, restored or moved meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static uint64_t word(uint64_t index)
{
	/* splitmix64: neighbours and pages have nothing in common */
	uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t count_wrong(const volatile uint64_t *mem, uint64_t words)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < words; i++)
		wrong += mem[i] != word(i);
	return wrong;
}

int main(int argc, char **argv)
{
	struct sysinfo info;
	uint64_t words, wrong;
	uint64_t *mem;
	size_t bytes;

	if (sysinfo(&info)) {
		perror("memory-pattern: sysinfo");
		return 2;
	}
	/* what is left keeps the kernel out of its reserves */
	bytes = (size_t)info.freeram * info.mem_unit / 16 * 15;
	bytes &= ~(size_t)4095;
	words = bytes / sizeof(*mem);
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		perror("memory-pattern: mmap");
		return 2;
	}
	for (uint64_t i = 0; i < words; i++)
		mem[i] = word(i);

	for (unsigned int round = 1;; round++) {
		wrong = count_wrong(mem, words);
		printf("memory-pattern: round %u: %zu pages, %" PRIu64 " words wrong\n", round, bytes / 4096, wrong);
		fflush(stdout);
		if (wrong)
			return 1;
		if (argc < 2 || strcmp(argv[1], "hold"))
			return 0;
		sleep(2);
	}
}
