/*
 * How this program fails: one line on stderr that names what was wrong and says
 * what would be right, then exit. Beyond that, only -v and progress go to stderr.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include "backend.h"

#define EXIT_USAGE 2	/* the command line itself is wrong */

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* Adds where to read on. */
void die_usage(const char *command, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* A line on stderr, of one that does not fail. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Its name, or its id if it has none. */
const char *domain_name(const struct domain *domain);

/* Return only if result is RESULT_OK. doing completes "cannot ...". */
void check(enum result result, const char *doing);
void check_domain(enum result result, const struct domain *domain,
		  const char *doing);

void *check_alloc(void *memory);

#endif
