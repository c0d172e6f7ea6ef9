/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the values of parameters.  Each returns whether the whole text was what it should be. */
#ifndef NUMASIM_WORDS_H
#define NUMASIM_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* "0-3+7": sets those below `cpus`. */
bool word_cpus(const char *text, unsigned int cpus, bool *set);
/* "0x100000000-0x140000000", whole MiB below 128 GiB, the second number is the first byte behind. */
bool word_range(const char *text, uint64_t *from, uint64_t *to);
/* "512K" or "512K:16" */
bool word_cache(const char *text, uint64_t *bytes, unsigned int *ways);
/* "2-3" or "2-3:6.5" */
bool word_link(const char *text, unsigned int *a, unsigned int *b, double *bandwidth);
/* "0x1000-0x1200:0x3000" */
bool word_idle(const char *text, uint64_t *from, uint64_t *to, uint64_t *awake);
/* exactly `n` of them, none negative, with colons between */
bool word_numbers(const char *text, unsigned int n, double *to);

#endif
