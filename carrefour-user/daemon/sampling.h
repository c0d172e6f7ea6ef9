/* SPDX-License-Identifier: GPL-2.0-only */
/* Sampling of a guest begins, goes on, and ends. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "guests/daemon.h"

/* How often rings are read, whatever a period is: Xen takes one that nobody reads for left. */
#define READ_MS 500

void sampling_keep(struct guest *guest, const struct daemon *daemon);
/* What has come; often enough that no ring is full. */
void sampling_read(struct guest *guest);
void sampling_read_all(struct daemon *daemon);
/* What was read has been looked at. */
void sampling_done(struct guest *guest);
/* What was read is not looked at, and takes more room than the guest may have: it counts as lost. */
void sampling_give_back(struct guest *guest);
void sampling_end(struct guest *guest);
/* And nothing is known of any domain any more. */
void sampling_end_all(struct daemon *daemon);

#endif
