/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings of JSON, and UTF-8: what may be any bytes becomes text. Numbers and what is around them fprintf() does. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdio.h>

void json_text(FILE *to, const char *text);	/* NULL: null */

/* Bytes of the UTF-8 character at @s; 0: it is none, and one byte is to be passed over. */
size_t utf8_character(const char *s);

#endif
