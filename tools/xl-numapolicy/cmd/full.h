/* SPDX-License-Identifier: GPL-2.0-only */
/* Which nodes are full, and whose memory that is. */
#ifndef FULL_H
#define FULL_H

#include "ask/types.h"

#define NAMES_TEXT 2048

/* As much of it as there is room for. */
void append_name(char text[NAMES_TEXT], const char *more);
/*
 * " (node 2 has no room for 1.9M; dom0 and Xen have 700M there)": of the domain's home nodes, by what the weights give each, if
 * so many of its pages stay elsewhere. Nothing where a touch has placed them.
 */
const char *name_full_nodes(char text[NAMES_TEXT], const struct domain *domain, uint64_t pages);

#endif
