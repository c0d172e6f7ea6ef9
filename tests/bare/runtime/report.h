/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BARE_REPORT_H
#define BARE_REPORT_H

void begin_report(const char *of_boot);
void end_report(void) __attribute__((noreturn));

#endif
