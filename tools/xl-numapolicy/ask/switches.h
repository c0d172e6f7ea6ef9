/* SPDX-License-Identifier: GPL-2.0-only */
/* Carrefour and auto of a running domain. */
#ifndef SWITCHES_H
#define SWITCHES_H

#include "ask/types.h"

/* Leaves the policy alone. */
enum result backend_set_dynamic(uint32_t domid, const struct dynamic *dynamic);
/* What cannot be known is unset. */
void backend_get_dynamic(uint32_t domid, struct dynamic *dynamic);

#endif
