/* SPDX-License-Identifier: GPL-2.0-only */
/* What to type to repair the placement of a domain. */
#ifndef ADVICE_H
#define ADVICE_H

#include "cmd/guest.h"
#include "print/format.h"

#define ADVICE_TEXT (2 * LIST_TEXT + 256)

/* Needs facts->fit. False: there is nothing to repair, or no way to that would help now. */
bool find_advice(const struct facts *facts, const struct nodes *nodes, char command[ADVICE_TEXT], char why[ADVICE_TEXT]);

#endif
