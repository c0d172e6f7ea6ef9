/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of programs that tell where their memory is. */
#ifndef MEMORY_GFNS_H
#define MEMORY_GFNS_H

#include "platform.h"

/* memory-touch: cpu CPU GFN+PAGES …	gfns in hex, a negative number of pages goes down; many such lines */
void print_gfns(long cpu, const char *mem, size_t pages);

#endif
