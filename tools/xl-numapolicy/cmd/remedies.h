/* SPDX-License-Identifier: GPL-2.0-only */
/* Why memory stays where it is, and what helps. */
#ifndef REMEDIES_H
#define REMEDIES_H

#include "ask/types.h"

/* A line for each cause that there is, after a move of the domain's memory. */
void print_remedies(const struct domain *domain, const struct moves *moves);
/* The same of memory that stays by 4 KiB. */
void print_remedies_of_compact(const struct domain *domain, const struct moves *moves);

#endif
