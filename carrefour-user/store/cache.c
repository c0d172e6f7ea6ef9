/* SPDX-License-Identifier: GPL-2.0-only */
/* Bits by domain, and a sorted table of those that have anything on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/cache.h"

#define WORDS ((DOMID_LIMIT + 63) / 64)

static uint64_t marked[WORDS], there[WORDS], named[WORDS];
static bool wants_list = true;
static bool untold;		/* what is known, is not known to the caller */
static struct switches *known;
static unsigned int nr_known;

static void set(uint64_t *bits, unsigned int id)
{
	bits[id / 64] |= 1ULL << id % 64;
}

static void clear(uint64_t *bits, unsigned int id)
{
	bits[id / 64] &= ~(1ULL << id % 64);
}

static bool test(const uint64_t *bits, unsigned int id)
{
	return bits[id / 64] >> id % 64 & 1;
}

void cache_doubt(void)
{
	/* Listed anew, all of them are new. */
	memset(there, 0, sizeof(there));
	wants_list = true;
}

void cache_again(void)
{
	untold = true;
}

void cache_list(void)
{
	wants_list = true;
}

void cache_mark(unsigned int id)
{
	set(marked, id);
}

bool cache_wants_list(void)
{
	return wants_list;
}

bool cache_is_doubtful(void)
{
	unsigned int id = 0;

	return wants_list || untold || cache_next(&id);
}

/* Where it is, or would be. */
static unsigned int place_of(unsigned int id)
{
	unsigned int i = 0;

	while (i < nr_known && known[i].id < id)
		i++;
	return i;
}

static void forget(unsigned int id)
{
	unsigned int i = place_of(id);

	clear(marked, id);
	if (i == nr_known || known[i].id != id)
		return;
	nr_known--;
	memmove(&known[i], &known[i + 1], (nr_known - i) * sizeof(*known));
}

void cache_begin_list(void)
{
	memset(named, 0, sizeof(named));
}

void cache_is_there(unsigned int id)
{
	set(named, id);
	if (!test(there, id))
		set(marked, id);
}

void cache_end_list(void)
{
	unsigned int i = 0;

	while (i < nr_known)
		if (test(named, known[i].id))
			i++;
		else
			forget(known[i].id);
	/* One that is marked and gone has nothing on. */
	for (i = 0; i < WORDS; i++)
		marked[i] &= named[i];
	memcpy(there, named, sizeof(there));
	wants_list = false;
}

bool cache_next(unsigned int *id)
{
	unsigned int next;

	for (next = *id + 1; next < DOMID_LIMIT; next++) {
		if (!(next % 64) && !marked[next / 64])
			next += 63;
		else if (test(marked, next))
			break;
	}
	*id = next;
	return next < DOMID_LIMIT;
}

void cache_set(unsigned int id, const struct switches *now)
{
	unsigned int i = place_of(id);
	struct switches *new;

	if (!now) {
		forget(id);
		return;
	}
	if (i == nr_known || known[i].id != id) {
		new = realloc(known, (nr_known + 1) * sizeof(*new));
		if (!new)
			return;
		known = new;
		memmove(&known[i + 1], &known[i], (nr_known - i) * sizeof(*known));
		nr_known++;
	}
	known[i] = *now;
	clear(marked, id);
}

const struct switches *cache_after(unsigned int id)
{
	unsigned int i = place_of(id + 1);

	return i < nr_known ? &known[i] : NULL;
}

bool cache_copy(struct switches **all, unsigned int *nr)
{
	*nr = nr_known;
	*all = calloc(nr_known + 1, sizeof(**all));
	untold = !*all;
	if (*all && nr_known)
		memcpy(*all, known, nr_known * sizeof(**all));
	return *all != NULL;
}
