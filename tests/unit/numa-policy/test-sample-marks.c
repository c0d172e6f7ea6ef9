/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of marked entries against an array that is searched from end to end. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "sample-marks.h"

#define MOST 600U

static struct { uint64_t gfn; unsigned int order, region; bool gone; } model[MOST];
static unsigned int nr;

/* The smallest one around the page that is not gone, of those alike the newest. */
static int search(uint64_t gfn)
{
	int found = -1;

	for (unsigned int i = 0; i < nr; i++)
		if (!model[i].gone && gfn >> model[i].order == model[i].gfn >> model[i].order &&
		    (found < 0 || model[i].order <= model[found].order))
			found = i;
	return found;
}

/* Now and then one that is found is gone from then on. */
static void compare(struct sample_marks *ms, uint64_t gfn)
{
	struct sample_mark *m = sample_marks_find(ms, gfn);
	int found = search(gfn);

	assert_int_equal(!!m, found >= 0);
	if (m) {
		assert_int_equal(m->gfn, model[found].gfn);
		assert_int_equal(m->order, model[found].order);
		assert_int_equal(m->region, model[found].region);
		assert_false(m->hit || m->gone);
		m->gone = model[found].gone = !rnd(4);
	}
}

static void random_marks(void **unused)
{
	static const unsigned int orders[] = { 0, 9, 18 };

	(void)unused;
	test_seed();
	for (int round = 0; round < 40; round++) {
		unsigned int size = 1 + rnd(MOST);
		uint64_t space = 1UL << (6 + rnd(36));
		struct sample_marks *ms = sample_marks_new(size);

		assert_non_null(ms);
		nr = 0;
		for (int step = 0; step < 3000; step++) {
			uint64_t gfn = ((uint64_t)rnd(UINT32_MAX) << 20 ^ rnd(UINT32_MAX)) % space;

			if (nr < size && rnd(5) < 3) {
				unsigned int order = orders[rnd(3)];

				sample_marks_add(ms, gfn, order, step % 512);
				model[nr].gfn = gfn >> order << order;
				model[nr].order = order;
				model[nr].gone = false;
				model[nr++].region = step % 512;
			} else if (nr) {
				const struct sample_mark *last = sample_marks_last(ms);

				assert_int_equal(last->gfn, model[nr - 1].gfn);
				assert_int_equal(last->order, model[nr - 1].order);
				sample_marks_drop(ms);
				nr--;
			}
			compare(ms, gfn);
			if (nr)
				compare(ms, model[rnd(nr)].gfn + rnd(512));
		}
		while (nr--)
			sample_marks_drop(ms);
		assert_null(sample_marks_last(ms));
		for (unsigned int i = 0; i < ms->size; i++)
			assert_int_equal(ms->head[i], 0);
		sample_marks_free(ms);
	}
}

static void without_memory(void **unused)
{
	(void)unused;
	for (unsigned int nth = 1; nth <= 2; nth++) {
		oom_arm(OOM_XEN, nth, true);
		assert_null(sample_marks_new(5));
	}
	oom_disarm();
	sample_marks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_marks),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
