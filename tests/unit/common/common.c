/* SPDX-License-Identifier: GPL-2.0-only */
/* What common/ makes of texts: those of stdin, each with a NUL behind it; of each, three lines. */
#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "common/text.h"

/* A letter a byte or character: - no character, c control character, 1 to 4 the bytes of another one. */
static void print_kinds(const char *s)
{
	while (*s) {
		size_t n = utf8_character(s);

		putchar(!n ? '-' : text_is_control(s, n) ? 'c' : '0' + (int)n);
		s += n ? n : 1;
	}
	putchar('\n');
}

int main(void)
{
	size_t size = 0;
	char *text = NULL;

	/* With room for no byte beyond the NUL, so that a sanitizer sees who looks there. */
	for (ssize_t n; (n = getdelim(&text, &size, 0, stdin)) > 0; text = NULL, size = 0) {
		text = realloc(text, n);
		print_kinds(text);
		json_text(stdout, text);
		putchar('\n');
		text_clean(text);
		puts(text);
		free(text);
	}
	json_text(stdout, NULL);
	free(text);
	return 0;
}
