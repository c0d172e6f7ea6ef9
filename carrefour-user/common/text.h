/* SPDX-License-Identifier: GPL-2.0-only */
/* Text that others have written. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Bytes of the UTF-8 character at @s; 0: it is none, and one byte is to be passed over. */
size_t utf8_character(const char *s);

/* Control characters, and what is no UTF-8, become '?': such a text is a part of a line, and no more, wherever it is shown. */
void text_clean(char *text);

#endif
