/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own KUnit tests of the queue, under the sanitizers of user space. */
#include "tests/numa-policy-queue-kunit.c"

int kunit_run(struct kunit_suite *suite)
{
	unsigned int failed = 0, nr = 0;

	for (struct kunit_case *c = suite->test_cases; c->run; c++, nr++) {
		struct kunit test = { 0 };

		suite->init(&test);
		c->run(&test);
		free(test.priv);
		printf("%s %s\n", test.failures ? "not ok" : "ok", c->name);
		failed += !!test.failures;
	}
	printf("%u tests, %u failed\n", nr, failed);
	return !nr || failed;
}
