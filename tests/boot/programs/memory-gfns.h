/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of programs that run in a guest and want to know where their memory is. */
#ifndef MEMORY_GFNS_H
#define MEMORY_GFNS_H

#include <stddef.h>
#include <stdint.h>

#define PAGE 4096UL
#define LARGE_PAGE (PAGE << 9)

void die(const char *what) __attribute__((noreturn));				/* with errno */
void die_of(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

void open_pagemap(void);
uint64_t gfn_of(const void *at);

/* memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines */
void print_gfns(long cpu, const char *mem, size_t pages);

/* Says what has been reached, and waits for a line from the console. */
void wait_for_go(const char *reached);

void pin(long cpu);

/* Memory of small pages, not touched yet. */
char *allocate(size_t pages);

#endif
