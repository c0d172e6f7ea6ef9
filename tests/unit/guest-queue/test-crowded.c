/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches that hold few events: whatever happens, no page in use is lost. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

static void no_page_in_use_is_lost(void **unused)
{
	struct peq_stats sum = { 0 };

	for (unsigned int i = 0; i < rounds(); i++) {
		struct run r = { .ops = 400, .threshold = PEQ_EVENTS / 2, .disturbed = true };
		struct peq_stats s;

		start_round(i);
		r.lazy = rnd(2);
		s = interleave(&r);
		sum.waits += s.waits;
		sum.dropped += s.dropped;
		sum.discarded += s.discarded;
		sum.taken += s.taken;
	}
	/* what this is about did happen */
	if (rounds() >= 20)
		assert_true(sum.waits && sum.dropped && sum.discarded && sum.taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page_in_use_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
