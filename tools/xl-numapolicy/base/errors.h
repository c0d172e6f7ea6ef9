/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How this program fails: one line on stderr that names what was wrong and says
 * what would be right, then exit. Beyond that, only -v and progress go to stderr.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include "base/alloc.h"

#define EXIT_USAGE 2	/* the command line itself is wrong */

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* Adds where to read on. command: NULL if none was named. */
void die_usage(const char *command, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* A line on stderr, of one that does not fail. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
