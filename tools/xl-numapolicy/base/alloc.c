/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

void *check_alloc(void *memory)
{
	if (!memory) {
		/* Not by die(), which needs some. */
		fputs(PROGRAM ": out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return memory;
}
