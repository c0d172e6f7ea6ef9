/* SPDX-License-Identifier: GPL-2.0-only */
/* Text from others, made what the reader of it can take. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/foreign.h"
#include "common/text.h"

char *text_repair(char *text)
{
	const char *from = text;
	char *result, *to;

	if (!text)
		return NULL;
	to = result = check_alloc(malloc(strlen(text) * strlen(UTF8_INSTEAD) + 1));
	while (*from) {
		size_t length = utf8_character(from);

		to = length ? mempcpy(to, from, length) : stpcpy(to, UTF8_INSTEAD);
		from += length ? length : 1;
	}
	*to = '\0';
	free(text);
	return result;
}

char *text_escape(const char *text)
{
	char *result = check_alloc(malloc(4 * strlen(text) + 1)), *to = result;

	while (*text) {
		size_t length = utf8_character(text);

		/* Of those that terminals obey, the second block is as good as ESC to some. */
		if (length && !text_is_control(text, length)) {
			to = mempcpy(to, text, length);
			text += length;
			continue;
		}
		for (length = length ? length : 1; length; length--, text++)
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
	}
	*to = '\0';
	return result;
}
