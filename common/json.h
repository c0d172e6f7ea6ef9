/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings of JSON, and UTF-8: what may be any bytes becomes text. Numbers and what is around them fprintf() does. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdio.h>

void json_text(FILE *to, const char *text);	/* NULL: null */

#endif
