// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * label-pages LABEL <FILE >TMPFS-FILE: runs in dom0; cuts a file into pages that say what they are: the label of 16 bytes, which
 * one of how many this is, and a hash.  The harness finds them in the emulator's memory, which is much faster than a serial line:
 * see harness/carrying.py.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct {
	char label[16];
	uint32_t number, pages;
	uint64_t hash;			/* of what follows: FNV-1a of 64 bits, by words */
	uint64_t words[508];
} page;

_Static_assert(sizeof(page) == 4096, "a page");

int main(int argc, char **argv)
{
	struct stat file;

	if (argc != 2 || strlen(argv[1]) != sizeof(page.label) || fstat(0, &file) || !S_ISREG(file.st_mode)) {
		fprintf(stderr, "usage: label-pages LABEL <FILE, with a label of %zu characters\n", sizeof(page.label));
		return 2;
	}
	memcpy(page.label, argv[1], sizeof(page.label));
	page.pages = (file.st_size + sizeof(page.words) - 1) / sizeof(page.words);
	for (; page.number < page.pages; page.number++) {
		memset(page.words, 0, sizeof(page.words));
		if (!fread(page.words, 1, sizeof(page.words), stdin))
			break;
		page.hash = 0xcbf29ce484222325u;
		for (size_t i = 0; i < sizeof(page.words) / sizeof(*page.words); i++)
			page.hash = (page.hash ^ page.words[i]) * 0x100000001b3u;
		if (!fwrite(&page, sizeof(page), 1, stdout))
			break;
	}
	if (page.number < page.pages || fflush(stdout)) {
		perror("label-pages");
		return 1;
	}
	return 0;
}
