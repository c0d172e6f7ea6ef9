/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that fails: malloc(), calloc() and realloc() of the objects that are linked with --wrap. What libraries take for
 * themselves is always there.
 */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

/* After @after allocations that succeed, @times fail; 0: none, from now on. */
void memory_fails(unsigned int after, unsigned int times);
/* Allocations that failed since then. */
unsigned int memory_failed(void);

#endif
