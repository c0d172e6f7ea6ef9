// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-home DOMID CONSOLE SHIFTED PERMILLE [CPU…]: whether of each vCPU's part of a guest's memory at least so much is at home:
 * vCPU i has part i + SHIFTED, of as many as there are, and is on node i + 1.  CONSOLE is what the guest has said, with lines of
 * memory-touch; of the parts that it tells only those of CPU… count, or all.  Prints a line a part:
 *
 *	PART NODE PAGES-THERE PAGES
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxl.h>

#define SAYS "memory-touch: cpu "
#define PARTS 32
#define CHUNK 512

static libxl_ctx *ctx;
static uint32_t domid;
static struct {
	uint64_t *gfns;
	size_t nr;
} parts[PARTS];

static void add(unsigned long part, uint64_t gfn)
{
	if (!(parts[part].nr % CHUNK))
		parts[part].gfns = realloc(parts[part].gfns, (parts[part].nr + CHUNK) * sizeof(gfn));
	parts[part].gfns[parts[part].nr++] = gfn;
}

/* CPU GFN+PAGES …, where a negative number of pages goes down */
static void read_line(char *at)
{
	unsigned long part = strtoul(at, &at, 10);
	uint64_t gfn;

	while (part < PARTS && *at == ' ') {
		gfn = strtoull(at, &at, 16);
		for (long left = strtol(at, &at, 10), step = left < 0 ? -1 : 1; left; left -= step, gfn += step)
			add(part, gfn);
	}
}

/* How many of a part's pages are on the node; -1: it cannot be said. */
static long on_node(unsigned int part, unsigned long node)
{
	libxl_numa_page pages[CHUNK];
	long there = 0;

	for (size_t first = 0; first < parts[part].nr; first += CHUNK) {
		size_t nr = parts[part].nr - first < CHUNK ? parts[part].nr - first : CHUNK;

		for (size_t i = 0; i < nr; i++) {
			libxl_numa_page_init(&pages[i]);
			pages[i].gfn = parts[part].gfns[first + i];
		}
		if (libxl_domain_numa_locate(ctx, domid, pages, nr))
			return -1;
		for (size_t i = 0; i < nr; i++)
			there += pages[i].node == node;
	}
	return there;
}

static bool counts(unsigned int part, char **chosen)
{
	if (!*chosen)
		return true;
	while (*chosen)
		if (strtoul(*chosen++, NULL, 10) == part)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_ERROR, 0);
	unsigned int nr_parts = 0, shifted;
	unsigned long permille;
	char *line = NULL, *at;
	bool home = true;
	size_t size = 0;
	FILE *console;

	if (argc < 5) {
		fprintf(stderr, "usage: numa-home DOMID CONSOLE SHIFTED PERMILLE [CPU…]\n");
		return 2;
	}
	domid = strtoul(argv[1], NULL, 10);
	shifted = strtoul(argv[3], NULL, 10);
	permille = strtoul(argv[4], NULL, 10);
	console = fopen(argv[2], "r");
	if (!console || libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log)) {
		perror(argv[2]);
		return 2;
	}
	while (getline(&line, &size, console) > 0) {
		at = strstr(line, SAYS);
		if (at)
			read_line(at + strlen(SAYS));
	}
	while (nr_parts < PARTS && parts[nr_parts].nr)
		nr_parts++;
	for (unsigned int part = 0; part < nr_parts; part++) {
		unsigned int node = (part + nr_parts - shifted % nr_parts) % nr_parts + 1;
		long there;

		if (!counts(part, argv + 5))
			continue;
		there = on_node(part, node);
		if (there < 0)
			return 2;
		printf("%u %u %ld %zu\n", part, node, there, parts[part].nr);
		home &= (unsigned long)there * 1000 >= permille * parts[part].nr;
	}
	return !nr_parts || !home;
}
