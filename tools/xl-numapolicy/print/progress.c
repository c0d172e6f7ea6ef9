/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows how far it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/errors.h"
#include "print/fields.h"
#include "print/progress.h"

#define SECOND 1e9
#define BAR_MIN 10	/* characters; a shorter bar says nothing */
#define BAR_MAX 40
#define SCREEN 80	/* columns, where the terminal does not know */

/* How often, in ns. */
static const uint64_t period[] = {
	[PROGRESS_BAR] = 200000000,
	[PROGRESS_LINES] = 5000000000,
	[PROGRESS_JSON] = 1000000000,
};

static uint64_t bytes_seen(const struct moves *moves)
{
	return (moves->moved + moves->there + moves_left(moves)) * PAGE_BYTES;
}

unsigned int permille_seen(const struct moves *moves, uint64_t total)
{
	uint64_t seen = bytes_seen(moves);

	/* More than all of it, of a guest that was given memory meanwhile. */
	return seen < total ? seen * 1000 / total : 1000;
}

void progress_begin(struct progress *progress, enum format format, bool quiet,
		    bool dry_run, uint64_t total)
{
	memset(progress, 0, sizeof(*progress));
	progress->verb = dry_run ? "to move" : "moved";
	progress->total = total;
	progress->form = quiet ? PROGRESS_NONE :
			 format == FORMAT_JSON ? PROGRESS_JSON :
			 isatty(STDERR_FILENO) ? PROGRESS_BAR : PROGRESS_LINES;
}

/* Negative: nobody knows. */
static double seconds_left(double seen, double total, double seconds)
{
	return seen ? (seen < total ? total - seen : 0) / seen * seconds : -1;
}

struct event {
	const char *event, *name;
	struct share seen;
	uint64_t memory, seen_bytes, moved, speed, elapsed, left;
	bool has_left;
};

#define EVENT(key, cell, member) { "", key, cell, offsetof(struct event, member) }

static const struct field fields[] = {
	EVENT("event", CELL_TEXT, event),
	EVENT("name", CELL_TEXT, name),
	EVENT("percent", CELL_SHARE, seen),
	EVENT("memory_bytes", CELL_BYTES, memory),
	EVENT("seen_bytes", CELL_BYTES, seen_bytes),
	EVENT("moved_bytes", CELL_PAGES, moved),
	EVENT("bytes_per_second", CELL_NUMBER, speed),
	EVENT("seconds", CELL_SECONDS, elapsed),
	{ "", "seconds_left", CELL_SECONDS, offsetof(struct event, left), IF(struct event, has_left) },
};

static void print_json(const struct progress *progress, const struct moves *moves, uint64_t elapsed)
{
	double left = seconds_left(bytes_seen(moves), progress->total, elapsed / SECOND);
	struct event event = {
		.event = "progress", .name = progress->name, .seen = { permille_seen(moves, progress->total), 1000 },
		.memory = progress->total, .seen_bytes = bytes_seen(moves), .moved = moves->moved,
		.speed = elapsed ? moves->moved * PAGE_BYTES / (elapsed / SECOND) : 0, .elapsed = elapsed,
		.has_left = left >= 0, .left = left >= 0 ? left * SECOND : 0,
	};

	print_object(fields, NR(fields), &event);
}

static size_t stderr_width(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ?
	       size.ws_col : SCREEN;
}

/* Over what was there before, with blanks: not all terminals can erase. */
static void redraw(struct progress *progress, const char *line)
{
	size_t width = strlen(line);

	fprintf(stderr, "\r%s%*s", line, width < progress->width ?
		(int)(progress->width - width) : 0, "");
	if (!width)
		fputc('\r', stderr);
	progress->width = width;
}

static void print_text(struct progress *progress, const struct moves *moves,
		       double seconds)
{
	unsigned int permille = permille_seen(moves, progress->total);
	double left = seconds_left(bytes_seen(moves), progress->total, seconds);
	double moved = moves->moved * PAGE_BYTES / (double)MIB;
	const char *whose = progress->whose ? progress->whose : "", *colon = progress->whose ? ": " : "";
	char text[160], line[320], bar[BAR_MAX + 4] = "", time[32] = "";
	int screen = stderr_width() - 1, size, full;

	if (left >= 0)
		snprintf(time, sizeof(time), ", %lu:%02lu left",
			 (unsigned long)left / 60, (unsigned long)left % 60);
	snprintf(text, sizeof(text), "%.0f MiB %s, %.1f MiB/s%s", moved,
		 progress->verb, moved / seconds, time);
	if (progress->form == PROGRESS_LINES) {
		say("%s%s%u%%, %s", whose, colon, permille / 10, text);
		return;
	}

	size = screen - (int)strlen("100% [] ") - (int)strlen(whose) - (int)strlen(colon) - (int)strlen(text);
	if (size > BAR_MAX)
		size = BAR_MAX;
	if (size >= BAR_MIN) {
		full = permille * size / 1000;
		bar[0] = '[';
		memset(bar + 1, '.', size);
		memset(bar + 1, '#', full);
		strcpy(bar + 1 + size, "] ");
	}
	snprintf(line, sizeof(line), "%s%s%3u%% %s%s", whose, colon, permille / 10, bar, text);
	if (screen >= 0 && (size_t)screen < strlen(line))
		line[screen] = '\0';
	redraw(progress, line);
}

void progress_show(struct progress *progress, const struct moves *moves,
		   uint64_t elapsed)
{
	if (progress->form == PROGRESS_NONE ||
	    elapsed - progress->shown < period[progress->form])
		return;
	progress->shown = elapsed;
	if (progress->form == PROGRESS_JSON)
		print_json(progress, moves, elapsed);
	else
		print_text(progress, moves, elapsed / SECOND);
}

void progress_end(struct progress *progress)
{
	if (progress->width)
		redraw(progress, "");
}
