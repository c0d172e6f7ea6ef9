/* SPDX-License-Identifier: GPL-2.0-only */
/* One clear line for each way to fail. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errors.h"

static const char program[] = "xl numa-policy";

static void print(const char *format, va_list ap)
{
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print(format, ap);
	va_end(ap);
}

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print(format, ap);
	va_end(ap);
	exit(EXIT_FAILURE);
}

void die_usage(const char *command, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s%s%s: ", program, command ? " " : "",
		command ? command : "");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; see '%s%s%s --help'\n", program, command ? " " : "",
		command ? command : "");
	exit(EXIT_USAGE);
}

void *check_alloc(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}
