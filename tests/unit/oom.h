/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Out of memory at every point, as SQLite is tested: an operation is run with its 1st, 2nd, 3rd ... allocation failing, until none is
 * left to fail: once with that one alone, and once with all from there on.  Each stand-in for an allocator asks oom_strikes().
 */
#ifndef OOM_H
#define OOM_H

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum oom_kind {
	OOM_FRAMES,	/* the host's, for a domain */
	OOM_TABLES,	/* of the domain's paging pool */
	OOM_XEN,	/* Xen's own: xmalloc(), xvmalloc(), vmap() */
	OOM_KINDS
};

/* @live: of Xen's own, not freed yet. */
struct oom {
	enum oom_kind kind;
	unsigned int at, met;
	bool lasts;
	long live;
};
extern struct oom oom;

/* The @at-th allocation of a kind fails, and @lasts: all that follow. */
static inline void oom_arm(enum oom_kind kind, unsigned int at, bool lasts)
{
	oom = (struct oom){ .kind = kind, .at = at, .lasts = lasts, .live = oom.live };
}

static inline void oom_disarm(void)
{
	oom.at = 0;
}

static inline bool oom_strikes(enum oom_kind kind)
{
	if (!oom.at || kind != oom.kind)
		return false;
	oom.met++;
	return oom.lasts ? oom.met >= oom.at : oom.met == oom.at;
}

/* What is not said to be zero is not. */
static inline void *oom_alloc(size_t size)
{
	void *p;

	if (oom_strikes(OOM_XEN))
		return NULL;
	p = malloc(size);
	assert(p);
	oom.live++;
	return memset(p, 0xa5, size);
}

static inline void *oom_zalloc(size_t size)
{
	void *p = oom_alloc(size);

	return p ? memset(p, 0, size) : NULL;
}

static inline void oom_free(void *p)
{
	oom.live -= p != NULL;
	free(p);
}

/* An operation, and how many allocations of each kind it makes: these may not become fewer unseen. */
struct oom_case {
	const char *name;
	void (*begin)(void);	/* a domain comes */
	int (*run)(void);	/* 0: all is done; it is run again if it is not, with memory */
	void (*check)(int rc);	/* what is true afterwards, whatever came of it */
	void (*end)(void);	/* the domain goes: nothing is left of it */
	unsigned int points[OOM_KINDS];
};

static inline unsigned int oom_points(const struct oom_case *c, enum oom_kind kind, bool lasts)
{
	for (unsigned int at = 1; ; at++) {
		long live = oom.live;
		bool met;
		int rc;

		c->begin();
		oom_arm(kind, at, lasts);
		rc = c->run();
		met = oom.met >= at;
		oom_disarm();
		c->check(rc);
		assert(met || !rc);
		if (rc) {
			rc = c->run();
			assert(!rc);
			c->check(rc);
		}
		c->end();
		assert(oom.live == live);
		if (!met)
			return at - 1;
	}
}

/* For cmocka, with the case as the state. */
static inline void oom_test(void **state)
{
	const struct oom_case *c = *state;
	unsigned int points[OOM_KINDS];

	for (unsigned int kind = 0; kind < OOM_KINDS; kind++) {
		points[kind] = oom_points(c, kind, false);
		assert(oom_points(c, kind, true) == points[kind]);
	}
	printf("%s: %u frames, %u tables, %u of Xen's own\n", c->name, points[OOM_FRAMES], points[OOM_TABLES], points[OOM_XEN]);
	fflush(stdout);
	assert(!memcmp(points, c->points, sizeof(points)));
}

#define OOM_TESTS(cases, tests) \
	struct CMUnitTest tests[sizeof(cases) / sizeof((cases)[0])]; \
	for (size_t i_ = 0; i_ < sizeof(cases) / sizeof((cases)[0]); i_++) \
		tests[i_] = (struct CMUnitTest){ (cases)[i_].name, oom_test, NULL, NULL, (void *)&(cases)[i_] }

#endif /* OOM_H */
