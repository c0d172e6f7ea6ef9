/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for people, and the same data for programs. Sizes, shares and numbers
 * are rounded and given units in FORMAT_TABLE only; RAW and JSON have them exact.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/types.h"

enum format { FORMAT_TABLE, FORMAT_RAW, FORMAT_JSON };

enum kind {
	KIND_TEXT,
	KIND_NUMBER,	/* also sizes and shares: whatever JSON does not quote */
	KIND_LIST,	/* an array in JSON, text elsewhere */
	KIND_BOOL,
	KIND_LINES,	/* text of several lines; for FORMAT_TABLE */
};

struct column {
	const char *title;	/* above the column */
	const char *key;	/* the name in JSON */
	enum kind kind;
	unsigned int width;	/* at least so many characters, if not 0 */
};

#define SCHEMA 1	/* "version" of each document of JSON; docs/interfaces.md says what changes it */

struct table;

/* One document: begin, then any number of tables, then end; or finish, and then another document. */
void output_begin(enum format format);
enum format output_format(void);
void output_finish(void);
/* Says so and exits if any of the output could not be written. */
void output_check(void);
void output_end(void);

/* name must live as long as the table. */
struct table *table_new(const char *name, const struct column *columns,
			unsigned int nr);
void table_row(struct table *table);
/* Each put fills the next cell of the row. */
void put_text(struct table *table, const char *text);
/* An empty one is nothing. */
void put_word(struct table *table, const char *text);
void put_number(struct table *table, uint64_t number);
void put_hex(struct table *table, uint64_t number);
void put_bool(struct table *table, bool value);
void put_bytes(struct table *table, uint64_t bytes);
void put_share(struct table *table, uint64_t part, uint64_t whole);
void put_nothing(struct table *table);
/* The nodes with a weight, and the weights of those. */
void put_nodes(struct table *table, const uint32_t weight[NODES_MAX]);
void put_weights(struct table *table, const uint32_t weight[NODES_MAX]);
/* Columns that the text takes on a terminal. */
size_t table_width(struct table *table);
/*
 * Prints the rows. In JSON, rows of tables of one name printed in a row are one
 * array; otherwise heading says whether to print the titles.
 */
void table_print(struct table *table, bool heading);
void table_clear(struct table *table);
void table_free(struct table *table);

/* The width of the terminal, or what output that is no terminal should fit. */
size_t screen_width(void);
/* Lines of the terminal; 0: not known, or it is none. */
size_t screen_height(void);

#endif
