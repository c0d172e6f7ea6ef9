/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "fake-memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned int wait, left, failed;

void memory_fails(unsigned int after, unsigned int times)
{
	wait = after;
	left = times;
	failed = 0;
}

unsigned int memory_failed(void)
{
	return failed;
}

static bool fails(void)
{
	if (!left)
		return false;
	if (wait) {
		wait--;
		return false;
	}
	left--;
	failed++;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}
