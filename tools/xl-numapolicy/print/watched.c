/* SPDX-License-Identifier: GPL-2.0-only */
/* A domain that carrefourd watches, for show and top. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print/format.h"
#include "print/watched.h"

#define FIELD(title, key, cell, member, known) \
	{ title, key, cell, offsetof(struct watched_row, member), IF(struct watched_row, known) }

const struct field watched_fields[] = {
	FIELD("CLASS", "class", CELL_TEXT, class, is_watched),
	FIELD("STATE", "state", CELL_TEXT, state, is_watched),
	FIELD("SAMPLES", "samples", CELL_NUMBER, samples, is_watched),
	FIELD("LOCAL", "local_percent", CELL_SHARE, local, has_samples),
	FIELD("IMBALANCE", "imbalance_percent", CELL_SHARE, imbalance, has_samples),
	FIELD("MOVES", "moves", CELL_NUMBER, moves, is_watched),
	FIELD("MOVED", "total_moved_bytes", CELL_BYTES, moved_bytes, is_watched),
	FIELD("DROPPED", "total_samples_dropped", CELL_NUMBER, dropped, is_watched),
};

const unsigned int nr_watched_fields = NR(watched_fields);

void fill_watched(struct watched_row *row, const struct watched *w)
{
	*row = (struct watched_row){ 0 };
	if (!w)
		return;
	row->is_watched = true;
	row->class = *w->class ? w->class : NULL;
	/* Without samples it is why there are none that counts. */
	row->state = strcmp(w->sampling, "runs") ? w->sampling : *w->state ? w->state : NULL;
	row->samples = w->samples;
	row->has_samples = w->samples != 0;
	row->local = (struct share){ w->local, 1000 };
	row->imbalance = (struct share){ w->imbalance, 1000 };
	row->moves = w->moves;
	row->moved_bytes = w->all_bytes;
	row->dropped = w->all_dropped;
}

void print_watched(const struct watched *w)
{
	char local[NUMBER_TEXT], imbalance[NUMBER_TEXT], size[NUMBER_TEXT];

	if (!w)
		return;
	if (strcmp(w->sampling, "runs"))
		printf("  sampling    %s; 'xl numa-policy explain' says more\n", w->sampling);
	else if (!w->samples)
		printf("  accesses    no samples in the last period\n");
	else
		printf("  accesses    %" PRIu64 " samples in the last period, %s%% of them local, imbalance %s%%\n", w->samples,
		       format_share(local, w->local, 1000), format_share(imbalance, w->imbalance, 1000));
	printf("  migrated    %" PRIu64 " pages in the last period, %s in all", w->moves, format_bytes(size, w->all_bytes));
	if (w->all_dropped)
		printf("; %" PRIu64 " samples were dropped", w->all_dropped);
	putchar('\n');
}
