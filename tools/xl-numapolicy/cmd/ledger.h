/* SPDX-License-Identifier: GPL-2.0-only */
/* What carrefourd's heal has done, and what came of it. */
#ifndef LEDGER_H
#define LEDGER_H

#include "ask/carrefour.h"

/* The entries in that array of the answer, a row each; of one VM, which needs no column then. Nothing, if there are none. */
void print_ledger(const struct answer *answer, const char *array, bool one_vm);
/* The answer to "heal": of the whole host. */
void print_host_ledger(const struct answer *answer);

#endif
