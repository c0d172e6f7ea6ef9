/* SPDX-License-Identifier: GPL-2.0-only */
/* What every test here begins with: cmocka, and chance that a seed determines. */
#ifndef CHANCE_H
#define CHANCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

void test_seed(void);		/* from SEED, or the time; printed */
void test_begin(uint64_t seed);
unsigned int rnd(unsigned int below);
uint64_t rnd64(void);

#endif
