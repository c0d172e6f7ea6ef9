/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies in the words of xl.cfg. */
#ifndef SPEC_H
#define SPEC_H

#include "ask/types.h"

/* Those a running domain can have. NULL beyond the last; needs no backend_open(). */
const char *backend_policy_name(unsigned int policy);
/* spec as in xl.cfg; RESULT_REFUSED comes with what is wrong in reason. */
enum result backend_parse(const char *spec, struct request *request,
			  char *reason, size_t size);

/* Of libxl's number. Never NULL: a policy of a newer Xen is "?". */
const char *spec_policy_name(unsigned int policy);

#endif
