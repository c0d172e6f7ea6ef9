/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of parameters, with GLib's number parsing, which no locale changes. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "words.h"

#define MIB (1u << 20)
#define MEMORY_END (UINT64_C(128) << 30)	/* what a line number of 31 bits reaches */

static bool whole(const char *text, uint64_t *n, const char **end)
{
	char *stop;

	if (!g_ascii_isdigit(*text))
		return false;
	*n = g_ascii_strtoull(text, &stop, 0);
	*end = stop;
	return stop != text;
}

/* FROM-TO */
static bool pair(const char *text, uint64_t *from, uint64_t *to, const char **end)
{
	return whole(text, from, end) && **end == '-' && whole(*end + 1, to, end);
}

bool word_cpus(const char *text, unsigned int cpus, bool *set)
{
	g_auto(GStrv) part = g_strsplit(text, "+", -1);

	for (unsigned int i = 0; part[i]; i++) {
		uint64_t first, last;
		const char *end;

		if (!pair(part[i], &first, &last, &end)) {
			if (!whole(part[i], &first, &end))
				return false;
			last = first;
		}
		if (*end || last < first || last >= cpus)
			return false;
		for (; first <= last; first++)
			set[first] = true;
	}
	return part[0] != NULL;
}

bool word_range(const char *text, uint64_t *from, uint64_t *to)
{
	const char *end;

	return pair(text, from, to, &end) && !*end && *from < *to && *to <= MEMORY_END && *from % MIB == 0 && *to % MIB == 0;
}

bool word_cache(const char *text, uint64_t *bytes, unsigned int *ways)
{
	const char *end;
	uint64_t n;

	if (!whole(text, bytes, &end))
		return false;
	if (*end == 'K' || *end == 'M')
		*bytes <<= *end++ == 'K' ? 10 : 20;
	if (*bytes > MEMORY_END)
		return false;
	if (!*end)
		return true;
	if (*end != ':' || !whole(end + 1, &n, &end) || *end || !n || n > 64)
		return false;
	*ways = n;
	return true;
}

bool word_link(const char *text, unsigned int *a, unsigned int *b, double *bandwidth)
{
	uint64_t from, to;
	const char *end;

	if (!pair(text, &from, &to, &end) || from > UINT_MAX || to > UINT_MAX)
		return false;
	*a = from;
	*b = to;
	return !*end || (*end == ':' && word_numbers(end + 1, 1, bandwidth) && *bandwidth > 0);
}

bool word_idle(const char *text, uint64_t *from, uint64_t *to, uint64_t *awake)
{
	const char *end;

	return pair(text, from, to, &end) && *end == ':' && whole(end + 1, awake, &end) && !*end && *from < *to;
}

bool word_numbers(const char *text, unsigned int n, double *to)
{
	for (unsigned int i = 0; i < n; i++) {
		char *end;

		if (!g_ascii_isdigit(*text) && *text != '.')
			return false;
		to[i] = g_ascii_strtod(text, &end);
		if (end == text || !isfinite(to[i]) || *end != (i + 1 < n ? ':' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}
