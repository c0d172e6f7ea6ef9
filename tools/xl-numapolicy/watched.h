/* What carrefourd says of a domain, as cells and as lines. */
#ifndef WATCHED_H
#define WATCHED_H

#include "carrefour.h"
#include "output.h"

#define WATCHED_COLUMNS \
	{ "CARREFOUR", "carrefour", KIND_BOOL }, \
	{ "AUTO", "auto", KIND_TEXT }, \
	{ "STATE", "state", KIND_TEXT }, \
	{ "SAMPLES", "period_samples", KIND_NUMBER }, \
	{ "LOCAL", "local_percent", KIND_NUMBER }, \
	{ "IMBALANCE", "imbalance_percent", KIND_NUMBER }, \
	{ "MOVES", "period_moves", KIND_NUMBER }, \
	{ "MOVED", "moved", KIND_NUMBER }, \
	{ "DROPPED", "dropped_samples", KIND_NUMBER }

/* NULL: a domain that carrefourd does not watch. */
void put_watched(struct table *table, const struct watched *watched);
void print_watched(const struct watched *watched);

#endif
