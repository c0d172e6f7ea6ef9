/* SPDX-License-Identifier: GPL-2.0-only */
#include "heal/change.h"

#define TRIFLE_PARTS 50		/* what is less than such a part of its memory, does not count */

uint64_t heal_spans(const struct heal_state *s, unsigned int vm)
{
	const struct heal_place *p = &s->place[vm];
	uint64_t which = 0;
	unsigned int i;

	for (i = 0; i < s->groups.nr; i++)
		if (p->bytes[i] > p->all / TRIFLE_PARTS)
			which |= 1ULL << i;
	return which;
}

unsigned int heal_needs(const struct heal_state *s, unsigned int vm)
{
	uint64_t most = 0, bytes = s->place[vm].all;
	double cores = 0, vcpus = s->host->vm[vm].vcpus;
	unsigned int i, by_bytes, by_cores;

	for (i = 0; i < s->groups.nr; i++)
		if (s->groups.with_cpus >> i & 1) {
			most = s->groups.bytes[i] > most ? s->groups.bytes[i] : most;
			cores = s->groups.cores[i] > cores ? s->groups.cores[i] : cores;
		}
	if (!most || cores < 1)
		return s->groups.nr;
	by_bytes = bytes ? (bytes + most - 1) / most : 1;
	by_cores = (vcpus + cores - 1) / cores;
	return by_cores > by_bytes ? by_cores : by_bytes;
}

bool heal_cores_do(const struct heal_state *s, unsigned int vm, uint64_t home)
{
	const struct heal_vm *v = &s->host->vm[vm];
	double cores = 0, more = v->peak > v->load ? v->peak - v->load : 0;
	unsigned int i;

	for (i = 0; i < s->groups.nr; i++)
		if (home >> i & 1)
			cores += s->groups.cores[i];
	for (i = 0; i < s->groups.nr; i++)
		if (home >> i & 1 && (s->work[i] > s->rules->full * s->groups.cores[i] ||
				      s->work[i] + more * s->groups.cores[i] / cores > s->groups.cores[i]))
			return false;
	return v->vcpus <= cores;
}

static uint64_t room(const struct heal_state *s, unsigned int vm, unsigned int i)
{
	return s->groups.free[i] + s->place[vm].bytes[i];
}

uint64_t heal_lacks(const struct heal_state *s, unsigned int vm, uint64_t home)
{
	uint64_t there = 0;
	unsigned int i;

	for (i = 0; i < s->groups.nr; i++)
		if (home >> i & 1)
			there += room(s, vm, i);
	return there < s->place[vm].all ? s->place[vm].all - there : 0;
}

/* A share for each: those with the least room first, so that the others take what these cannot. */
static void divide(const struct heal_state *s, unsigned int vm, uint64_t home, uint64_t bytes[NODES_MAX])
{
	unsigned int left = __builtin_popcountll(home), i, least;
	uint64_t all = s->place[vm].all, share;

	for (; left; left--) {
		least = NODES_MAX;
		for (i = 0; i < s->groups.nr; i++)
			if (home >> i & 1 && (least == NODES_MAX || room(s, vm, i) < room(s, vm, least)))
				least = i;
		share = all / left;
		bytes[least] = share < room(s, vm, least) ? share : room(s, vm, least);
		all -= bytes[least];
		home &= ~(1ULL << least);
	}
}

struct heal_place heal_gathered(const struct heal_state *s, unsigned int vm, uint64_t home, uint64_t most, uint64_t *bytes)
{
	struct heal_place to = { .home = home };
	const uint64_t *now = s->place[vm].bytes;
	uint64_t come = 0, go = 0;
	unsigned int i;

	divide(s, vm, home, to.bytes);
	for (i = 0; i < s->groups.nr; i++) {
		come += to.bytes[i] > now[i] ? to.bytes[i] - now[i] : 0;
		go += to.bytes[i] < now[i] ? now[i] - to.bytes[i] : 0;
	}
	*bytes = come < most ? come : most;
	/* From each as much as it has too much, for its part; and to each likewise. */
	for (i = 0; i < s->groups.nr; i++) {
		to.bytes[i] = to.bytes[i] > now[i] ? now[i] + (uint64_t)((double)(to.bytes[i] - now[i]) * *bytes / come) :
			      to.bytes[i] < now[i] ? now[i] - (uint64_t)((double)(now[i] - to.bytes[i]) * *bytes / go) : now[i];
		to.all += to.bytes[i];
	}
	return to;
}

struct heal_place heal_following(const struct heal_state *s, unsigned int vm, uint64_t home)
{
	struct heal_place to = s->place[vm];

	to.home = home;
	return to;
}

/* Whether @a is the better one to go to. */
static bool better(const struct heal_state *s, unsigned int vm, unsigned int a, unsigned int b)
{
	const uint64_t *bytes = s->place[vm].bytes;

	return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : s->groups.free[a] > s->groups.free[b];
}

uint64_t heal_set(const struct heal_state *s, unsigned int vm, unsigned int first, unsigned int size)
{
	uint64_t set = 1ULL << first;
	unsigned int i, best;

	while (--size) {
		best = NODES_MAX;
		for (i = 0; i < s->groups.nr; i++)
			if (!(set >> i & 1) && s->groups.with_cpus >> i & 1 && (best == NODES_MAX || better(s, vm, i, best)))
				best = i;
		if (best == NODES_MAX)
			break;
		set |= 1ULL << best;
	}
	return set;
}
