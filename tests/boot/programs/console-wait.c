// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * console-wait NAME SECONDS SINCE PATTERN: waits until that which guest NAME says on its console, from byte SINCE on, matches PATTERN,
 * and prints it up to the end of the match.  PATTERN is Perl's, which is Python's as far as tests go.
 *
 * Otherwise it prints all from SINCE on, says why on stderr, and ends with 1: SECONDS have passed, or the guest has crashed, or is
 * gone.  A guest that is rebooted, saved or migrated is gone for a while, and the console of one that is received has the name that
 * it had meanwhile: so it is missed after GONE seconds only, and only if it was there.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libxl.h>
#include <libxl_utils.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define POLL_US 100000
#define GONE 20		/* seconds without the guest */
#define LAST_WORDS 2	/* seconds for what a guest that has crashed said before */

static libxl_ctx *ctx;
static char *said;
static size_t length;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Whether there is something new. */
static bool read_console(const char *path, size_t since)
{
	size_t before = length;
	struct stat stat;
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	if (!fstat(fileno(file), &stat) && stat.st_size > (off_t)since && stat.st_size - since != length &&
	    !fseek(file, since, SEEK_SET)) {
		said = realloc(said, stat.st_size - since);
		length = said ? fread(said, 1, stat.st_size - since, file) : 0;
	}
	fclose(file);
	return length != before;
}

enum state { THERE, CRASHED, NOT_THERE };

static enum state state_of(const char *name)
{
	enum state state = THERE;
	libxl_dominfo info;
	uint32_t domid;

	if (libxl_name_to_domid(ctx, name, &domid))
		return NOT_THERE;
	libxl_dominfo_init(&info);
	if (libxl_domain_info(ctx, &info, domid))
		state = NOT_THERE;
	else if (info.shutdown && info.shutdown_reason == LIBXL_SHUTDOWN_REASON_CRASH)
		state = CRASHED;
	libxl_dominfo_dispose(&info);
	return state;
}

static int give_up(const char *name, const char *why)
{
	fwrite(said, 1, length, stdout);
	fprintf(stderr, "%s %s\n", name, why);
	return 1;
}

int main(int argc, char **argv)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_CRITICAL, 0);
	double start = now(), looked = 0, ended = 0;
	bool was_there = false;
	pcre2_match_data *match;
	pcre2_code *pattern;
	const char *name = argv[1];
	char path[256];
	size_t since;
	int error;

	if (argc != 5) {
		fprintf(stderr, "usage: console-wait NAME SECONDS SINCE PATTERN\n");
		return 2;
	}
	since = strtoul(argv[3], NULL, 10);
	snprintf(path, sizeof(path), "/var/log/xen/console/guest-%s.log", name);
	pattern = pcre2_compile((PCRE2_SPTR)argv[4], PCRE2_ZERO_TERMINATED, 0, &error, &(PCRE2_SIZE){ 0 }, NULL);
	if (!pattern) {
		fprintf(stderr, "console-wait: not a pattern: %s (error %d)\n", argv[4], error);
		return 2;
	}
	match = pcre2_match_data_create_from_pattern(pattern, NULL);
	if (libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log))
		return 2;
	for (;; usleep(POLL_US)) {
		enum state state = THERE;

		if (read_console(path, since)) {
			int found = pcre2_match(pattern, (PCRE2_SPTR)said, length, 0, 0, match, NULL);

			if (found >= 0) {
				fwrite(said, 1, pcre2_get_ovector_pointer(match)[1], stdout);
				return 0;
			}
			if (found != PCRE2_ERROR_NOMATCH) {
				fprintf(stderr, "console-wait: %s: error %d\n", argv[4], found);
				return 2;
			}
		}
		if (now() - start > atof(argv[2]))
			return give_up(name, "takes too long");
		if (now() - looked < 1)
			continue;
		looked = now();
		state = state_of(name);
		was_there |= state != NOT_THERE;
		if (state == THERE || !was_there)
			ended = 0;
		else if (!ended)
			ended = looked;
		else if (looked - ended > (state == CRASHED ? LAST_WORDS : GONE))
			return give_up(name, state == CRASHED ? "has crashed" : "is gone");
	}
}
