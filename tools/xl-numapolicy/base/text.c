/* SPDX-License-Identifier: GPL-2.0-only */
/* UTF-8, as far as it has to be looked at. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Bytes of the character at text, and *character; 0: there is none. */
static unsigned int decode(const unsigned char *text, uint32_t *character)
{
	/* Shorter forms are the only right ones. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : *text >> 3 == 30 ? 4 : 0, i;

	if (!length)
		return 0;
	*character = length == 1 ? *text : *text & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		*character = *character << 6 | (text[i] & 0x3f);
	}
	if (*character < least[length] || *character > 0x10ffff || (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return length;
}

char *text_repair(char *text)
{
	static const char instead[] = "\xef\xbf\xbd";
	const unsigned char *from = (const unsigned char *)text;
	uint32_t character;
	char *result, *to;

	if (!text)
		return NULL;
	to = result = check_alloc(malloc(strlen(text) * strlen(instead) + 1));
	while (*from) {
		unsigned int length = decode(from, &character);

		memcpy(to, length ? (const char *)from : instead, length ? length : strlen(instead));
		to += length ? length : strlen(instead);
		from += length ? length : 1;
	}
	*to = '\0';
	free(text);
	return result;
}

char *text_escape(const char *text)
{
	char *result = check_alloc(malloc(4 * strlen(text) + 1)), *to = result;
	const unsigned char *from = (const unsigned char *)text;
	uint32_t character;

	while (*from) {
		unsigned int length = decode(from, &character), i;

		/* The second block of them is as good as ESC to some terminals. */
		if (length && character >= ' ' && (character < 0x7f || character >= 0xa0)) {
			memcpy(to, from, length);
			to += length;
		} else {
			length = length ? length : 1;
			for (i = 0; i < length; i++)
				to += sprintf(to, "\\x%02x", from[i]);
		}
		from += length;
	}
	*to = '\0';
	return result;
}
