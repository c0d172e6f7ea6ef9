/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marker that our emulator plugins look for: a long NOP whose displacement is a number and whether it ends. */
#ifndef MARKER_H
#define MARKER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MARKER_BASE 0x584e0000u
#define MARKER_LAST_ID 0x7fffu

typedef void (*marker_fn)(void);

/* The number is known at run time only, so the instruction is put together here.  Ends the program if there is no memory. */
static inline marker_fn new_marker(unsigned int id, unsigned int is_end)
{
	static const unsigned char code[] = { 0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0xc3 };	/* nopl 0(%rax); ret */
	uint32_t displacement = MARKER_BASE | id << 1 | is_end;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	marker_fn function;

	if (page == MAP_FAILED) {
		perror("marker");
		exit(1);
	}
	memcpy(page, code, sizeof(code));
	memcpy(page + 3, &displacement, sizeof(displacement));
	memcpy(&function, &page, sizeof(function));
	return function;
}

#endif
