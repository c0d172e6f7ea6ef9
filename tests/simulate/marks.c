/* SPDX-License-Identifier: GPL-2.0-only */
#include "harness.h"

#include "marks.h"
#include "sample-budget.h"
#include "sample-regions.h"

struct marks {
	struct sample_budget budget;
	struct sample_regions regions;
};

struct marks *marks_new(unsigned int entries, unsigned int period_ms, unsigned int permille, unsigned int vcpus, uint64_t gfns,
			uint64_t seed)
{
	struct marks *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	sample_budget_init(&m->budget, permille, entries, MILLISECS(period_ms), vcpus);
	sample_regions_init(&m->regions, gfns, seed);
	return m;
}

void marks_free(struct marks *m)
{
	free(m);
}

unsigned int marks_begin(struct marks *m, uint64_t ran_ns, uint64_t spent_ns, uint64_t marked)
{
	return sample_budget_begin(&m->budget, ran_ns, spent_ns, marked);
}

uint64_t marks_length_ns(const struct marks *m)
{
	return sample_budget_length(&m->budget);
}

uint64_t marks_pick(struct marks *m, unsigned int *region)
{
	return sample_regions_pick(&m->regions, region);
}

void marks_hit(struct marks *m, unsigned int region, bool hit)
{
	sample_regions_marked(&m->regions, region, hit);
}

void marks_adapt(struct marks *m, uint64_t gfns)
{
	sample_regions_adapt(&m->regions, gfns);
}
