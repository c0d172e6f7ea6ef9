/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulator's memory, seen from a plugin in the same process: of memory-backend-memfd there are files, which it has open, one
 * a node.  Anything else cannot be found.
 */
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

#define MEMFD "/memfd:memory-backend-memfd"

struct memory *memory_new(uint64_t mibs)
{
	struct memory *memory = g_malloc0(sizeof(*memory) + mibs * sizeof(memory->mib[0]));

	memory->mibs = mibs;
	return memory;
}

/* The next of these files after @fd, in the order in which they were opened; -1: there is none. */
static int next_file(int fd)
{
	for (fd++; fd < sysconf(_SC_OPEN_MAX); fd++) {
		g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd), *link = g_file_read_link(path, NULL);

		if (link && g_str_has_prefix(link, MEMFD))
			return fd;
	}
	return -1;
}

static uint64_t bytes_of(const struct node *node)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < node->ranges; i++)
		bytes += node->range[i].to - node->range[i].from;
	return bytes;
}

char *memory_attach(struct memory *memory, const struct machine *m)
{
	int fd = -1;

	for (unsigned int number = 0; number < m->nodes; number++) {
		const struct node *node = &m->node[number];
		struct stat stat;
		const uint8_t *file;

		fd = next_file(fd);
		if (fd < 0 || fstat(fd, &stat))
			return g_strdup_printf("the memory of node %u is no memory-backend-memfd", number);
		if ((uint64_t)stat.st_size != bytes_of(node))
			return g_strdup_printf("node %u has %" G_GUINT64_FORMAT " bytes, the emulator's memory %" G_GUINT64_FORMAT, number,
					       bytes_of(node), (uint64_t)stat.st_size);
		file = mmap(NULL, stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (file == MAP_FAILED)
			return g_strdup_printf("the memory of node %u cannot be mapped", number);
		/* machine addresses of a node rise with its file */
		for (unsigned int i = 0; i < node->ranges; i++)
			for (uint64_t at = node->range[i].from; at < node->range[i].to; at += MIB_MASK + 1, file += MIB_MASK + 1)
				memory->mib[at >> MIB_SHIFT] = file;
	}
	return NULL;
}
