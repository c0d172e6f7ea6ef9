/* SPDX-License-Identifier: GPL-2.0-only */
/* Text that others have written. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define UTF8_INSTEAD "\xef\xbf\xbd"	/* U+FFFD, where there is no character */

/* Bytes of the UTF-8 character at @s; 0: it is none, and one byte is to be passed over. */
size_t utf8_character(const char *s);

/* Whether the character of @n bytes at @s is of C0 or C1, or DEL, which terminals obey. */
bool text_is_control(const char *s, size_t n);

/* Control characters, and what is no UTF-8, become '?': such a text is a part of a line, and no more, wherever it is shown. */
void text_clean(char *text);

#endif
