/* SPDX-License-Identifier: GPL-2.0-only */
/* KUnit, as far as the kernel's own tests of the queue use it. */
#ifndef KUNIT_H
#define KUNIT_H

#include "harness.h"

struct kunit { void *priv; unsigned int failures; };
struct kunit_case { void (*run)(struct kunit *test); const char *name; };
struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn) { fn, #fn }
#define KUNIT_FAIL_UNLESS(test, x, what) \
	((x) ? (void)0 : ((test)->failures++, \
			  (void)printf("%s:%d: %s\n", __FILE__, __LINE__, what)))
#define KUNIT_EXPECT_TRUE(test, x)	KUNIT_FAIL_UNLESS(test, x, #x)
#define KUNIT_EXPECT_FALSE(test, x)	KUNIT_FAIL_UNLESS(test, !(x), "not " #x)
#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_FAIL_UNLESS(test, (u64)(a) == (u64)(b), #a " == " #b)
#define KUNIT_EXPECT_NE(test, a, b)	KUNIT_FAIL_UNLESS(test, (u64)(a) != (u64)(b), #a " != " #b)
#define KUNIT_ASSERT_EQ			KUNIT_EXPECT_EQ
#define KUNIT_ASSERT_NOT_NULL(test, p)	KUNIT_EXPECT_TRUE(test, p)
#define kunit_kzalloc(test, size, flags) memset(aligned_alloc(64, ((size) + 63) / 64 * 64), 0, size)
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))

#define local_irq_save(flags) ((flags) = irqs_off, irqs_off = true)
#define local_irq_restore(flags) (irqs_off = (flags))

int kunit_run(struct kunit_suite *suite);
#define kunit_test_suite(suite) int main(void) { return kunit_run(&(suite)); }

#endif /* KUNIT_H */
