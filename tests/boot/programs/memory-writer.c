// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-writer MIB [PAUSE]: runs in a guest whose pages are being moved.  A thread a CPU goes over its part of the memory again and
 * again; every word must be what address and generation of the pass before say, and becomes that of this pass.  A write that
 * went to a page already copied, or a page that came back from elsewhere, shows as a wrong word in the next pass.  After each
 * pass it rests for PAUSE ms, which leaves an emulator time for who moves the pages.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct part {
	pthread_t thread;
	volatile uint64_t *mem;
	uint64_t first, words;		/* of the whole */
	atomic_uint passes;
};

static atomic_ullong wrong;
static unsigned int pause_ms;

static uint64_t word(uint64_t index, uint64_t generation)
{
	/* splitmix64: neighbours, pages and generations have nothing in common */
	uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + generation * 0xd1342543de82ef95u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return z ^ (z >> 27);
}

static void *work(void *data)
{
	struct part *part = data;

	for (uint64_t generation = 1;; generation++) {
		for (uint64_t i = 0; i < part->words; i++) {
			if (part->mem[i] != (generation == 1 ? 0 : word(part->first + i, generation - 1)))
				atomic_fetch_add(&wrong, 1);
			part->mem[i] = word(part->first + i, generation);
		}
		atomic_fetch_add(&part->passes, 1);
		usleep(pause_ms * 1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) << 20 : 0;
	struct part *parts = calloc(cpus, sizeof(*parts));
	/* by the kernel, all at once: faults of all vCPUs at a time take minutes under an emulator */
	char *mem = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) : MAP_FAILED;

	pause_ms = argc > 2 ? atoi(argv[2]) : 0;
	if (!parts || mem == MAP_FAILED) {
		fprintf(stderr, "usage: memory-writer MIB [PAUSE], of which there must be as much\n");
		return 2;
	}
	for (long cpu = 0; cpu < cpus; cpu++) {
		struct part *part = &parts[cpu];

		part->words = bytes / 8 / cpus;
		part->first = part->words * cpu;
		part->mem = (uint64_t *)mem + part->first;
		if (pthread_create(&part->thread, NULL, work, part)) {
			perror("memory-writer");
			return 2;
		}
	}
	for (unsigned int second = 1;; second++) {
		unsigned int least = -1u;

		sleep(1);
		for (long cpu = 0; cpu < cpus; cpu++) {
			unsigned int passes = atomic_load(&parts[cpu].passes);

			least = passes < least ? passes : least;
		}
		printf("memory-writer: second %u: %u passes, %llu words wrong\n", second, least, atomic_load(&wrong));
		fflush(stdout);
	}
}
