/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of carrefour-replay. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

struct replay_options {
	const char *config, *output, *metrics;
	long domain;		/* -1: all */
	bool advise, check, periods;
};

/* What follows the options is argv[optind]. Does not return if it is wrong. */
struct replay_options parse_options(int argc, char **argv);

/* One line; the exit status is 1, and 2 with --check, whose 1 is that something differs. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
