/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/told.c is told by the values of its mailbox. */
#ifndef BARE_TOLD_H
#define BARE_TOLD_H

enum { TOLD_WHAT, TOLD_FIRST, TOLD_NR, TOLD_RESULT };
enum { TOLD_RELEASE, TOLD_TOUCH };
#define TOLD_MOST 512

#endif
