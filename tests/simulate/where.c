/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>

#include "chance.h"
#include "memory.h"
#include "where.h"

/*
 * A bit is cleared, and read a while afterwards: after a long one all of a guest at work has been accessed, after a short one
 * only what is hot. So the while is halved as long as more than a quarter was seen, and doubled below a twentieth.
 */
#define LOOK_NS 5000000.0
#define LOOK_LEAST 20000.0
#define LOOK_MOST 1000000000.0
#define ENTRY_NS 30		/* an entry that is in no cache is read and written, twice in two passes */
#define COLD_PART 8		/* of so many picks one goes to any 2 MiB: what was cold may be hot */

struct where {
	uint8_t *seen;		/* a bit a scan */
	uint32_t *hot;		/* those with most bits, of the last scan */
	uint32_t nr, nr_hot;
	uint64_t every_ns, next_ns;
	double look_ns;
};

struct where *where_new(const struct memory *m, unsigned int scan_ms)
{
	struct where *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->nr = m->pages / CHUNK;
	w->every_ns = scan_ms * 1000000ULL;
	w->look_ns = LOOK_NS;
	w->seen = calloc(w->nr + 1, sizeof(*w->seen));
	w->hot = calloc(w->nr + 1, sizeof(*w->hot));
	if (w->seen && w->hot)
		return w;
	where_free(w);
	return NULL;
}

void where_free(struct where *w)
{
	if (w) {
		free(w->seen);
		free(w->hot);
	}
	free(w);
}

/* Those that were seen at least half as often as the hottest ones. */
static void choose(struct where *w)
{
	uint32_t i;
	int most = 0, bits;

	for (i = 0; i < w->nr; i++) {
		bits = __builtin_popcount(w->seen[i]);
		if (bits > most)
			most = bits;
	}
	w->nr_hot = 0;
	for (i = 0; most && i < w->nr; i++)
		if (2 * __builtin_popcount(w->seen[i]) >= most)
			w->hot[w->nr_hot++] = i;
}

static void scan(struct where *w, const struct memory *m, const double *rate, uint64_t *chance)
{
	double likely[AREAS];
	uint32_t i, seen = 0;
	unsigned int n;

	for (n = 0; n < m->nr; n++)
		likely[n] = 1 - exp(-rate[n] * CHUNK * w->look_ns / 1e9);
	for (i = 0; i < w->nr; i++) {
		bool now = splitmix_part(chance) < likely[m->area_of[i]];

		w->seen[i] = w->seen[i] << 1 | now;
		seen += now;
	}
	if (seen > w->nr / 4)
		w->look_ns = fmax(w->look_ns / 2, LOOK_LEAST);
	else if (seen < w->nr / 20)
		w->look_ns = fmin(w->look_ns * 2, LOOK_MOST);
}

double where_scan(struct where *w, const struct memory *m, const double *rate, uint64_t from_ns, uint64_t to_ns, uint64_t *chance)
{
	double cost = 0;

	if (w->next_ns < from_ns)
		w->next_ns = from_ns;
	for (; w->next_ns < to_ns; w->next_ns += w->every_ns) {
		scan(w, m, rate, chance);
		choose(w);
		cost += (double)w->nr * ENTRY_NS;
	}
	return cost;
}

uint64_t where_pick(struct where *w, uint64_t *chance)
{
	uint64_t at = w->nr_hot && chance_below(chance, COLD_PART) ? w->hot[chance_below(chance, w->nr_hot)] :
		chance_below(chance, w->nr);

	return at * CHUNK + chance_below(chance, CHUNK);
}

uint64_t where_bytes(const struct where *w)
{
	return w->nr * (sizeof(*w->seen) + sizeof(*w->hot));
}
