/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What carrefourd(8) knows, asked by its socket. Only carrefour.c knows the protocol, and JSON.
 */
#ifndef CARREFOUR_H
#define CARREFOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/units.h"

#define WORD_TEXT 24	/* the longest of the daemon's words */

/* A domain that has Carrefour or auto on. Ratios are in permille, of the last period. */
struct watched {
	uint32_t id;
	bool carrefour;
	char automatic[WORD_TEXT];	/* "off", "on", "advise" */
	char class[WORD_TEXT];		/* that auto has found; "" if none yet */
	char sampling[WORD_TEXT];	/* "runs", or why not */
	char state[WORD_TEXT];		/* what Carrefour did about it */
	uint64_t samples, local, imbalance, pair;
	uint64_t moves;			/* in the last period */
	uint64_t all_moves, all_bytes, all_dropped;	/* since the daemon sees it */
};

struct watching {
	uint64_t period, period_ms;	/* number of the last one; length */
	struct watched *watched;	/* malloc()ed, in the order of ids */
	unsigned int nr;
	bool mute;			/* there is a daemon, but no answer of it that is of use */
};

/* False: there is no daemon, or it is mute, and why was said. Frees nothing of before. */
bool carrefour_show(struct watching *watching);
const struct watched *carrefour_find(const struct watching *watching, uint32_t id);

/*
 * The answer to one request, as it came, malloc()ed. Dies, with the daemon's reason, if there is none. file: passed
 * with it, and what is asked goes on until wait() returns, which may look whether fd has an answer by itself; -1: none.
 * From then on, without wait() from the beginning, the daemon has a few seconds for its answer.
 */
char *carrefour_ask(const char *request, int file, void (*wait)(int fd));

/* An answer, for who prints it as text. Values live as long as it does. */
struct answer;
struct answer *answer_parse(const char *text);
void answer_free(struct answer *answer);
/* "" or 0 if there is no such field, or it is null; the text of a number is what was sent. */
const char *answer_text(const struct answer *answer, const char *name);
uint64_t answer_number(const struct answer *answer, const char *name);
/* The object that is called so; NULL, which has no field: there is none. */
const struct answer *answer_part(const struct answer *answer, const char *name);
/* The numbers of the array that is called so, as nodes that weigh 1. */
void answer_nodes(const struct answer *answer, const char *name, uint32_t weight[NODES_MAX]);
/* Calls fn for each object of the array that is called so. */
void answer_each(const struct answer *answer, const char *name, void (*fn)(const struct answer *item, void *arg), void *arg);

#endif
