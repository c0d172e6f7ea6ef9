/* SPDX-License-Identifier: GPL-2.0-only */
/* sd-daemon(3): a line that begins with <N> has that priority. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "process/log.h"

static bool verbose, journal;

/* systemd.exec(5): the variable is inherited, and stderr may be another file than it tells of. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && !fstat(STDERR_FILENO, &st) &&
	       st.st_dev == device && st.st_ino == inode;
}

void log_begin(bool more)
{
	verbose = more;
	journal = is_journal();
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

bool log_is_verbose(void)
{
	return verbose;
}

void log_line(enum level level, const char *format, ...)
{
	char text[2048];
	va_list ap;

	if (level == LEVEL_DEBUG && !verbose)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* Names are of others. One line stays one, with the priority that it was given. */
	text_clean(text);
	if (journal)
		fprintf(stderr, "<%d>%s\n", level, text);
	else
		fprintf(stderr, "carrefourd: %s\n", text);
}
