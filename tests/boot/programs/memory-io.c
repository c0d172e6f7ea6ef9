// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory-io DEVICE: runs in a guest whose pages are being moved.  Writes to a disk and reads back, past all caches, so that the
 * pages of its buffers themselves are granted to the back-end again and again; every word must be as it was written.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

#define CHUNK (64u << 10)
#define CHUNKS 64		/* other pages each time */

static uint64_t word(uint64_t index, uint64_t generation)
{
	uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + generation * 0xd1342543de82ef95u;

	return (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_DIRECT) : -1;
	uint64_t bytes = 0, wrong = 0, *mem = mmap(NULL, CHUNK * CHUNKS, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned int second = 0;
	time_t said = 0;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes) || bytes < CHUNK || mem == MAP_FAILED) {
		perror("memory-io: usage: memory-io DEVICE");
		return 2;
	}
	for (unsigned int pass = 1;; pass++) {
		uint64_t *out = mem + pass % CHUNKS * (CHUNK / 8), *in = mem + (pass * 7 + 1) % CHUNKS * (CHUNK / 8);
		off_t where = pass % (bytes / CHUNK) * CHUNK;

		for (unsigned int i = 0; i < CHUNK / 8; i++)
			out[i] = word(i, pass);
		memset(in, 0, CHUNK);		/* never the same chunk: 6 * pass + 1 is odd */
		if (pwrite(fd, out, CHUNK, where) != CHUNK || pread(fd, in, CHUNK, where) != CHUNK) {
			perror("memory-io");
			return 1;
		}
		for (unsigned int i = 0; i < CHUNK / 8; i++)
			wrong += in[i] != word(i, pass);
		if (time(NULL) != said) {
			said = time(NULL);
			printf("memory-io: second %u: %u passes, %" PRIu64 " words wrong\n", ++second, pass, wrong);
			fflush(stdout);
		}
	}
}
