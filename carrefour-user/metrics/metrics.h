/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics as a Prometheus text file, for node_exporter's textfile collector: of every domain of the host, of the host's
 * nodes, and of the daemon. What is not known is left out. docs/interfaces.md has what each of them means.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "guests/daemon.h"

#define LABELS_SIZE 320

struct metrics_domain {
	char labels[LABELS_SIZE];		/* that all of it has */
	const struct domain_metrics *carrefour;	/* NULL: it is not watched */
	const struct guest *guest;		/* NULL: it is not watched, or of a trace */
	const struct hosted *hosted;		/* NULL: of a trace */
};

/* An empty @uuid is left out; @name is any bytes. */
void metrics_label(struct metrics_domain *domain, const char *uuid, const char *name);

/* @daemon: NULL: there is none, nor a host. */
void metrics_print(FILE *to, const struct metrics_domain *domain, unsigned int nr, const struct daemon *daemon);

/* Whether it could be written there, as far as can be told; an empty path can. False: one line in @error. */
bool metrics_possible(const char *path, char *error, size_t size);
/* False: errno says why, and the file that was there is there. One that is no regular file is never replaced. */
bool metrics_write(const char *path, const struct metrics_domain *domain, unsigned int nr, const struct daemon *daemon);

#endif
