/* SPDX-License-Identifier: GPL-2.0-only */
/* sd-daemon(3): a line that begins with <N> has that priority. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "process/log.h"

static bool verbose, journal;

void log_begin(bool more)
{
	verbose = more;
	journal = getenv("JOURNAL_STREAM") != NULL;
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

void log_line(enum level level, const char *format, ...)
{
	va_list ap;

	if (level == LEVEL_DEBUG && !verbose)
		return;
	flockfile(stderr);
	if (journal)
		fprintf(stderr, "<%d>", level);
	else
		fputs("carrefourd: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}
