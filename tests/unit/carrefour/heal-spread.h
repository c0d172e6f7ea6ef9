/* SPDX-License-Identifier: GPL-2.0-only */
/* A host on which one VM is spread over two nodes, and what heal's view says of it. */
#ifndef HEAL_SPREAD_H
#define HEAL_SPREAD_H

#define GIB (1ULL << 30)

/* heal advises. Domain 1 is spread over two nodes, busy, and not watched; the others are idle, each on one node. */
void begin_spread(unsigned int nr);
void assert_view(const char *what);

#endif
