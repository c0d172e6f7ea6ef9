/* SPDX-License-Identifier: GPL-2.0-only */
/* RFC 8259: a document is UTF-8. */
#include "common/json.h"

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

void json_text(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (!text) {
		fputs("null", to);
		return;
	}
	fputc('"', to);
	while (*s) {
		size_t n = utf8_character((const char *)s);

		if (!n)
			fputs("\\ufffd", to);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(to, "\\u%04x", *s);
		else if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else
			fwrite(s, 1, n, to);
		s += n ? n : 1;
	}
	fputc('"', to);
}
