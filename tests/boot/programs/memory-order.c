// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-order MIB: runs in a guest whose pages are being moved.  One thread writes a number to a page of each 2 MiB and then
 * says so elsewhere; the others, on the other CPUs, read what it said and then the page, which may not be older.  A CPU that
 * still reads an old page by its TLB, while another one writes to the new page already, shows as a wrong word.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK (2u << 20)
#define PAGE 4096

static char *mem;
static unsigned int blocks;
static atomic_uint *said;
static atomic_uint passes;
static atomic_ullong wrong;

/* Pages differ in where they are in their block, or all would be in one set of a cache. */
static atomic_uint *number(unsigned int block)
{
	return (atomic_uint *)(mem + (uint64_t)block * BLOCK + block * 7919u % (BLOCK / PAGE) * PAGE);
}

static void *write_numbers(void *unused)
{
	unsigned int seed = 1;

	for (unsigned int n = 1;; n++) {
		for (unsigned int block = 0; block < blocks; block++) {
			atomic_store_explicit(number(block), n, memory_order_relaxed);
			atomic_store_explicit(&said[block], n, memory_order_release);
			/* who writes all the time waits for the first page of a batch, and never comes upon its end */
			for (int i = rand_r(&seed) % 200000; i; i--)
				__asm__ volatile("");
		}
		atomic_store(&passes, n);
	}
	return unused;
}

static void *read_numbers(void *unused)
{
	for (;;)
		for (unsigned int block = 0; block < blocks; block++) {
			unsigned int least = atomic_load_explicit(&said[block], memory_order_acquire);

			if (atomic_load_explicit(number(block), memory_order_relaxed) < least)
				atomic_fetch_add(&wrong, 1);
		}
	return unused;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = argc == 2 ? strtoull(argv[1], NULL, 0) << 20 : 0;

	mem = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) : MAP_FAILED;
	blocks = bytes / BLOCK;
	said = calloc(blocks + 1, sizeof(*said));
	if (mem == MAP_FAILED || !said || !blocks || cpus < 2) {
		fprintf(stderr, "usage: memory-order MIB, of which there must be as much, and two CPUs\n");
		return 2;
	}
	for (long cpu = 0; cpu < cpus; cpu++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, cpu ? read_numbers : write_numbers, NULL)) {
			perror("memory-order");
			return 2;
		}
	}
	for (unsigned int second = 1;; second++) {
		sleep(1);
		printf("memory-order: second %u: %u passes, %llu words wrong\n", second, atomic_load(&passes), atomic_load(&wrong));
		fflush(stdout);
	}
}
