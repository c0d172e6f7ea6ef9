/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line a message on standard error: with a priority in front for the journal, else with the
 * program's name. What an old message leaves out, the next says: nothing is held back silently.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

enum level { LEVEL_ERROR = 3, LEVEL_WARNING = 4, LEVEL_INFO = 6, LEVEL_DEBUG = 7 };	/* as syslog(3) numbers them */

void log_begin(bool verbose);	/* verbose: debug, too */
bool log_is_verbose(void);
void log_line(enum level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
