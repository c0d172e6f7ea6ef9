/* SPDX-License-Identifier: GPL-2.0-only */
/* One clear line for each way to fail. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errors.h"
#include "base/foreign.h"

/* What it is about may come from anywhere: no terminal obeys it, and it stays one line. */
static void print(const char *before, const char *format, va_list ap, const char *after)
{
	char *text, *safe;

	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	safe = text ? text_escape(text) : NULL;
	fprintf(stderr, "%s%s: %s%s\n", PROGRAM, before, safe ? safe : "out of memory", after);
	free(safe);
	free(text);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print("", format, ap, "");
	va_end(ap);
}

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print("", format, ap, "");
	va_end(ap);
	exit(EXIT_FAILURE);
}

void die_usage(const char *command, const char *format, ...)
{
	char name[64] = "", where[128];
	va_list ap;

	if (command)
		snprintf(name, sizeof(name), " %s", command);
	snprintf(where, sizeof(where), "; see '%s%s --help'", PROGRAM, name);
	va_start(ap, format);
	print(name, format, ap, where);
	va_end(ap);
	exit(EXIT_USAGE);
}
