/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces may be cut, edited or of somebody else: nothing in them is trusted. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "trace/words.h"

#define NAME_SHOWN 300	/* bytes of a longer name: its end */
#define LINE_MOST 65536	/* bytes; a line of 64 nodes has some 1,400 */

bool words_bad(struct trace *t, const char *format, ...)
{
	size_t length = strlen(t->name);
	int n = snprintf(t->error, sizeof(t->error), "%s:%u: ", t->name + (length > NAME_SHOWN ? length - NAME_SHOWN : 0), t->line);
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->error + n, sizeof(t->error) - n, format, ap);
	va_end(ap);
	/* No terminal obeys what a trace says. */
	text_clean(t->error);
	return false;
}

const char *words_line(struct trace *t)
{
	if (t->ahead) {
		t->ahead = false;
		return t->first;
	}
	if (!t->text)
		t->text = malloc(LINE_MOST);
	if (!t->text) {
		words_bad(t, "out of memory");
		return NULL;
	}
	do {
		size_t length = 0;
		int c;

		/* Not getline(): a file of holes is one line, larger than memory. */
		while ((c = getc_unlocked(t->file)) != EOF && c && c != '\n' && length + 1 < LINE_MOST)
			t->text[length++] = c;
		if (c == EOF && (!length || ferror(t->file))) {
			words_bad(t, ferror(t->file) ? "cannot read on" : "cut: there is no line 'end'");
			return NULL;
		}
		t->line++;
		if (!c) {
			words_bad(t, "a byte of value 0; this is no trace");
			return NULL;
		}
		if (length + 1 == LINE_MOST) {
			words_bad(t, "a line of %d bytes and more; this is no trace", LINE_MOST - 1);
			return NULL;
		}
		t->text[length] = '\0';
		t->text[strcspn(t->text, "#\r\n")] = '\0';
		t->first = strtok_r(t->text, " \t", &t->rest);
	} while (!t->first);
	return t->first;
}

/* Nothing but its first word has been taken yet. */
void words_unread(struct trace *t)
{
	t->ahead = true;
}

const char *words_next(struct trace *t, const char *what)
{
	const char *word = strtok_r(NULL, " \t", &t->rest);

	if (!word)
		words_bad(t, "%s is missing", what);
	return word;
}

bool words_number(struct trace *t, const char *what, int base, uint64_t max, uint64_t *value)
{
	const char *word = words_next(t, what);
	char *end;

	if (!word)
		return false;
	errno = 0;
	*value = strtoull(word, &end, base);
	if (!isxdigit((unsigned char)*word) || *end || errno || *value > max)
		return words_bad(t, "'%.100s' is no %s; a number from 0 to %" PRIu64 " is expected", word, what, max);
	return true;
}

bool words_node(struct trace *t, const char *what, uint8_t *value)
{
	uint64_t n;

	if (!words_number(t, what, 10, t->nr_nodes - 1, &n))
		return false;
	*value = n;
	return true;
}

bool words_end(struct trace *t)
{
	const char *word = strtok_r(NULL, " \t", &t->rest);

	return !word || words_bad(t, "'%.100s' is a word too many", word);
}

/* "0,2,3" */
bool words_nodes(struct trace *t, uint64_t *mask)
{
	const char *word = words_next(t, "a list of nodes");

	*mask = 0;
	while (word) {
		char *end;
		unsigned long n = strtoul(word, &end, 10);

		if (!isdigit((unsigned char)*word) || n >= t->nr_nodes || (*end && *end != ','))
			return words_bad(t, "'%.100s' is no list of nodes; write nodes below %u with commas", word, t->nr_nodes);
		*mask |= 1ULL << n;
		if (!*end)
			return true;
		word = end + 1;
	}
	return false;
}

bool words_grow(struct trace *t, void **array, size_t size, size_t nr, size_t *room, size_t max)
{
	size_t more = *room ? 2 * *room : 64;
	void *new;

	if (nr < *room)
		return true;
	if (nr >= max)
		return words_bad(t, "more than %zu of them in a period", max);
	new = realloc(*array, size * more);
	if (!new)
		return words_bad(t, "out of memory");
	*array = new;
	*room = more;
	return true;
}
