/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a domain between periods, for the files that decide only. */
#ifndef DOMAIN_H
#define DOMAIN_H

#include "decide/decide.h"
#include "decide/pages.h"

#define RANGE_BITS 65536

/* A range of 2 MiB that was divided, until it is known whether that helps. */
struct trial {
	uint64_t gfn, since;
	unsigned int before;		/* of 1000 samples, those that could be local at best when it was whole */
	uint64_t samples, local;	/* in the second half of the trial */
};

/* What is remembered as one: an entry of the p2m, or 2 MiB of small ones. */
enum kind { KIND_ENTRY, KIND_RANGE, NR_KINDS };

struct domain {
	unsigned int nr_nodes;
	uint64_t now;			/* ns since the first period */
	uint64_t random;
	struct pages pages;
	bool interleaving, migrating, hungry;
	unsigned int quiet;		/* periods in a row without a move, and without one that waits */

	struct seen {
		double again, same;	/* as struct verdict's, of late */
	} seen[NR_KINDS];

	/* Samples on pages that were moved: do they show that it was good? */
	unsigned int judged;
	double gained;			/* of them; beyond what chance makes local */
	uint64_t backoff_until, backoff_ns;
	uint32_t settled;		/* what was ordered in this period of .pages, or before, is judged no more */

	struct trial trial[SPLITS_MAX];
	unsigned int nr_trials;
	uint64_t split_pause_until, split_pause_ns;

	/* By a hash of 2 MiB ranges: in which of them small pages, or all of it, are to move. */
	uint64_t small[RANGE_BITS / 64], whole[RANGE_BITS / 64];
	struct decision *decision;	/* of the period; what there is no memory for is not ordered */
	size_t nr_decisions, room_decisions;
};

/* What the decisions of one period share. */
struct period {
	struct domain *d;
	const struct config *config;
	struct host *host;
	const struct input *in;
	struct verdict *verdict;
	struct budget left;
	struct nodes nodes;
	double load[NODES_MAX];		/* as it will be after what was decided */
	double mean;			/* of the home nodes that have CPUs */
	unsigned int needed[NR_KINDS];	/* samples in a row that are no chance */
};

/* order.c: passes what a heuristic wants through all that keeps it calm. True: it was ordered. */
struct candidate {
	enum action action;
	enum why why;
	struct page *page;
	uint64_t gfn;			/* what is moved: the page or a part of it */
	uint8_t order, to;
	uint32_t ms;
};
bool order_move(struct period *period, const struct candidate *wish);
bool can_go_to(const struct period *period, uint8_t node, uint64_t bytes);

/* samples.c */
void note_samples(struct period *period);
/* It was ordered to move, and did not. */
void note_failure(struct period *period, struct page *page);
/* Sets .needed. */
void learn_chance(struct period *period);
/* Returns false while moves are not to be made as the last ones did not help. */
bool judge_moves(struct period *period);

/* large.c: 2 MiB and 1 GiB. */
void large_split(struct period *period, struct page *page, const struct window_view *view);
/* A small page's; the 2 MiB around it, or NULL if that is not remembered. */
struct page *large_sample_within(struct period *period, const struct sample *sample, uint8_t node);
void large_look_at_ranges(struct period *period, bool may_collapse);

#endif
