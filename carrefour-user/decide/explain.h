/* SPDX-License-Identifier: GPL-2.0-only */
/* Decisions in words: a line each for the log, for `explain` and for carrefour-replay. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "decide/decide.h"

#define EXPLAIN_SIZE 512

/* Without a newline. @buf has room for EXPLAIN_SIZE. */
void explain_decision(char *buf, const struct decision *decision);
void explain_verdict(char *buf, const struct verdict *verdict, const struct config *config);

/* The words of traces; what has no such number has no name (NULL). */
const char *action_name(unsigned int action);
const char *why_name(unsigned int why);
const char *state_name(unsigned int state);
const char *held_name(unsigned int held);

#endif
