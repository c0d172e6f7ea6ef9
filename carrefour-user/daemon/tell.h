/* SPDX-License-Identifier: GPL-2.0-only */
/* What was decided and done is told: to the log, to explain, to metrics, to recordings. */
#ifndef TELL_H
#define TELL_H

#include "guests/daemon.h"

/* @nr of them, from @first on, and what became of each. */
void tell_decisions(struct daemon *daemon, struct guest *guest, size_t first, size_t nr, const enum result *result);
void tell_period(const struct daemon *daemon, struct guest *guest);

/* In a line for `systemctl status`, now and then. */
void tell_status(const struct daemon *daemon);

void tell_recordings(struct daemon *daemon, const uint64_t *free_bytes);

/* Whether the file is to be written now; it goes if it is another one now, or none. */
bool tell_metrics_due(struct daemon *daemon);
void tell_metrics(struct daemon *daemon);
/* The daemon ends: nobody is to take it for what is. */
void tell_no_metrics(struct daemon *daemon);

#endif
