/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines and words of a trace, for the file that reads one only. */
#ifndef WORDS_H
#define WORDS_H

#include "trace/trace.h"

/* Says where and what; returns false. */
bool words_bad(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first word of the next line that has one; NULL: the end, or an error. */
const char *words_line(struct trace *trace);
/* That line is to be the next one again. */
void words_unread(struct trace *trace);

/* Each of these takes the next word, and says what is wrong with it. */
const char *words_next(struct trace *trace, const char *what);
bool words_number(struct trace *trace, const char *what, int base, uint64_t max, uint64_t *value);
bool words_node(struct trace *trace, const char *what, uint8_t *value);
bool words_nodes(struct trace *trace, uint64_t *mask);
bool words_end(struct trace *trace);

/* Makes room for one more than @nr. */
bool words_grow(struct trace *trace, void **array, size_t size, size_t nr, size_t *room, size_t max);

#endif
