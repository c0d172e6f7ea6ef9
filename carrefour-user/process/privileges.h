/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon may do besides asking Xen. An open privcmd device is as much as root on the host; what
 * is given up is everything else: metrics, and whatever else is opened or written, is the user's.
 *
 * One capability is kept, not in effect: xenstored's socket is root's, and has to be opened again when
 * xenstored was restarted, and to read the configuration again, which may be root's alone.
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is such a user; else one line in @error. */
bool privileges_known(const char *user, char *error, size_t size);

/* A name, or a number that is the group's, too. For good; root stays root. False: one line in @error. */
bool privileges_drop(const char *user, char *error, size_t size);

/* For the moment of either, in the thread that dropped the others. */
void privileges_raise(void);
void privileges_lower(void);

#endif
