/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "fuzz.h"

_Noreturn void fuzz_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

FILE *fuzz_file(const uint8_t *data, size_t size)
{
	/* An empty buffer is refused. */
	return size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");
}
