/* SPDX-License-Identifier: GPL-2.0-only */
/* What a target gives: for libFuzzer, or for driver.c where there is no clang. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What inputs are made of; NULL ends it. */
extern const char *const fuzz_words[];

/* With the line, where it does not hold. */
#define HOLDS(condition) ((condition) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_failed(const char *file, int line, const char *what);

/* A stream to read the input from. */
#include <stdio.h>
FILE *fuzz_file(const uint8_t *data, size_t size);

#endif
