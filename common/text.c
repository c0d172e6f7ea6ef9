/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "common/text.h"

/* RFC 3629, section 4. */
size_t utf8_character(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0, i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than needed, half of a pair of UTF-16, beyond the last one. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
	    (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

bool text_is_control(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	return n == 1 ? *u < 0x20 || *u == 0x7f : n == 2 && u[0] == 0xc2 && u[1] < 0xa0;
}

void text_clean(char *text)
{
	char *to = text;
	size_t n;

	for (; *text; text += n ? n : 1) {
		n = utf8_character(text);
		if (!n || text_is_control(text, n)) {
			*to++ = '?';
		} else {
			memmove(to, text, n);
			to += n;
		}
	}
	*to = '\0';
}
