/* SPDX-License-Identifier: GPL-2.0-only */
/* https://prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4: what all that print metrics need. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include <stdint.h>

#include "metrics/metrics.h"

/* Begins a family; all of its samples follow. */
void family(FILE *f, const char *name, const char *type, const char *help);
/* A sample, up to its value; @more: NULL, or labels that only it has. */
void sample_of(FILE *f, const char *name, const struct metrics_domain *domain, const char *more);
void value_integer(FILE *f, uint64_t value);
void value_ns(FILE *f, uint64_t ns);	/* in seconds */

/* Nodes as "0-3,7". */
#define NODES_SIZE 256
void nodes_text(char text[NODES_SIZE], uint64_t nodes);

void print_host(FILE *f, const struct daemon *daemon);
void print_daemon(FILE *f, const struct daemon *daemon);
void print_hosted(FILE *f, const struct metrics_domain *domain, unsigned int nr, unsigned int nr_nodes);
void print_guests(FILE *f, const struct metrics_domain *domain, unsigned int nr);

#endif
