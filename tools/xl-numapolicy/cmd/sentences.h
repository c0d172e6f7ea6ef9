/* SPDX-License-Identifier: GPL-2.0-only */
/* A domain in sentences, for people. */
#ifndef SENTENCES_H
#define SENTENCES_H

#include "ask/carrefour.h"
#include "cmd/guest.h"

/* watched: NULL for a domain that carrefourd does not watch. */
void print_sentences(const struct facts *facts, const struct watched *watched, const struct nodes *nodes);

#endif
