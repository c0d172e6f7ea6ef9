/* SPDX-License-Identifier: GPL-2.0-only */
/* What carrefourd says of a domain, as fields and as lines. */
#ifndef WATCHED_H
#define WATCHED_H

#include "ask/carrefour.h"
#include "print/fields.h"

struct watched_row {
	bool is_watched, has_samples;
	const char *class, *state;	/* class NULL: auto has found none; state NULL: not known */
	uint64_t samples, moves, moved_bytes, dropped;
	struct share local, imbalance;
};

extern const struct field watched_fields[];
extern const unsigned int nr_watched_fields;

/* watched: NULL for a domain that carrefourd does not watch. It lives as long as the row. */
void fill_watched(struct watched_row *row, const struct watched *watched);
void print_watched(const struct watched *watched);

#endif
