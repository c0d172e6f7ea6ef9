/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and lists as text for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print/format.h"

const char *format_bytes(char text[NUMBER_TEXT], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	uint64_t unit = 1, tenths;
	unsigned int i = 0;

	while (i < sizeof(units) - 2 && bytes / unit >= 1024) {
		unit *= 1024;
		i++;
	}
	/* In two steps, as ten times the largest sizes does not fit. */
	tenths = bytes / unit * 10 + bytes % unit * 10 / unit;
	if (tenths % 10)
		snprintf(text, NUMBER_TEXT, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10,
			 tenths % 10, units[i]);
	else
		snprintf(text, NUMBER_TEXT, "%" PRIu64 "%.*s", tenths / 10,
			 bytes ? 1 : 0, &units[i]);
	return text;
}

const char *format_share(char text[NUMBER_TEXT], uint64_t part, uint64_t whole)
{
	/* Rounded down: 100.0 means all of it. */
	uint64_t permille = whole ? part * 1000 / whole : 0;

	snprintf(text, NUMBER_TEXT, "%" PRIu64 ".%" PRIu64, permille / 10, permille % 10);
	return text;
}

const char *format_seconds(char text[NUMBER_TEXT], uint64_t ns)
{
	snprintf(text, NUMBER_TEXT, "%.3f", ns / 1e9);
	return text;
}

const char *format_nodes(char text[LIST_TEXT], const uint32_t weight[NODES_MAX])
{
	unsigned int first, last;
	size_t len = 0;

	text[0] = '\0';
	for (first = 0; first < NODES_MAX; first = last + 1) {
		last = first;
		if (!weight[first])
			continue;
		while (last + 1 < NODES_MAX && weight[last + 1])
			last++;
		len += snprintf(text + len, LIST_TEXT - len, "%s%u",
				len ? "," : "", first);
		if (last > first)
			len += snprintf(text + len, LIST_TEXT - len, "-%u", last);
	}
	return text;
}

const char *format_weights(char text[LIST_TEXT], const uint32_t weight[NODES_MAX])
{
	unsigned int node;
	size_t len = 0;

	text[0] = '\0';
	for (node = 0; node < NODES_MAX; node++)
		if (weight[node])
			len += snprintf(text + len, LIST_TEXT - len, "%s%u",
					len ? ":" : "", weight[node]);
	return text;
}
