// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * find-word DOMID FIRST NR WORD: runs in dom0; in how many of the NR pages from gfn FIRST on is WORD the second word, and
 * how many pages there are.  Pages that wait to be touched are touched by this.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <xenforeignmemory.h>

#define CHUNK 512

int main(int argc, char **argv)
{
	xenforeignmemory_handle *foreign = xenforeignmemory_open(NULL, 0);
	uint64_t first, end, word, pages = 0, found = 0;

	if (argc != 5 || !foreign) {
		fprintf(stderr, "usage: find-word DOMID FIRST NR WORD, in dom0\n");
		return 2;
	}
	first = strtoull(argv[2], NULL, 0);
	end = first + strtoull(argv[3], NULL, 0);
	word = strtoull(argv[4], NULL, 0);
	for (uint64_t at = first; at < end; at += CHUNK) {
		size_t nr = end - at < CHUNK ? end - at : CHUNK;
		xen_pfn_t gfns[CHUNK];
		int errors[CHUNK];
		char *mem;

		for (size_t i = 0; i < nr; i++)
			gfns[i] = at + i;
		mem = xenforeignmemory_map(foreign, atoi(argv[1]), PROT_READ, nr, gfns, errors);
		if (!mem) {
			perror("find-word");
			return 1;
		}
		for (size_t i = 0; i < nr; i++) {
			if (errors[i])
				continue;
			pages++;
			found += *(volatile uint64_t *)(mem + i * 4096 + 8) == word;
		}
		xenforeignmemory_unmap(foreign, mem, nr);
	}
	printf("find-word: %" PRIu64 " of %" PRIu64 " pages\n", found, pages);
	return 0;
}
