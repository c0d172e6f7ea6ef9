/* SPDX-License-Identifier: GPL-2.0-only */
/* RFC 8259: a document is UTF-8. */
#include "common/json.h"
#include "common/text.h"

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
