/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of an answer that is not RESULT_OK: the program ends, with the reason. */
#ifndef CHECK_H
#define CHECK_H

#include "ask/types.h"

/* For sentences: its name, escaped, or its id if it has none. Lives until another domain's is asked for. */
const char *domain_name(const struct domain *domain);

/* For commands to be typed: its name if that is a word to the shell and to us, else its id. Lives as long. */
const char *domain_argument(const struct domain *domain);

/* Return only if result is RESULT_OK. doing completes "cannot ...". */
void check(enum result result, const char *doing);
void check_domain(enum result result, const struct domain *domain,
		  const char *doing);

#endif
