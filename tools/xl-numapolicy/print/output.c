/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables by libsmartcols, joined to one JSON document where they are several. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libsmartcols.h>

#include "base/errors.h"
#include "print/format.h"
#include "print/output.h"

#define DEFAULT_WIDTH 120

struct table {
	struct libscols_table *scols;
	struct libscols_line *line;
	const char *name;
	unsigned int nr, next;
};

static enum format format;
static const char *open_array;	/* the JSON array that is not closed yet */
static bool has_rows;		/* it */

void output_begin(enum format f)
{
	format = f;
	open_array = NULL;
	if (format == FORMAT_JSON)
		printf("{\n   \"version\": %d", SCHEMA);
}

enum format output_format(void)
{
	return format;
}

void output_check(void)
{
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output: %s", strerror(errno));
}

void output_finish(void)
{
	if (format == FORMAT_JSON)
		printf("\n%s}\n", open_array ? "   ]\n" : "");
	output_check();
}

void output_end(void)
{
	output_finish();
	/* Some file systems tell of a full disk only now. */
	if (fclose(stdout))
		die("cannot write the output: %s", strerror(errno));
}

struct table *table_new(const char *name, const struct column *columns,
			unsigned int nr)
{
	static const int json_type[] = {
		[KIND_TEXT] = SCOLS_JSON_STRING,
		[KIND_NUMBER] = SCOLS_JSON_NUMBER,
		[KIND_LIST] = SCOLS_JSON_NUMBER,
		[KIND_BOOL] = SCOLS_JSON_NUMBER,	/* which may be null; what is no boolean is false */
		[KIND_LINES] = SCOLS_JSON_STRING,
	};
	struct table *table = check_alloc(calloc(1, sizeof(*table)));
	unsigned int i;

	table->name = name;
	table->nr = nr;
	table->scols = check_alloc(scols_new_table());
	scols_table_set_name(table->scols, name);
	scols_table_enable_raw(table->scols, format == FORMAT_RAW);
	scols_table_enable_json(table->scols, format == FORMAT_JSON);

	for (i = 0; i < nr; i++) {
		const struct column *c = &columns[i];
		struct libscols_column *column;
		size_t width = strlen(c->title);
		int flags = 0;

		/* Newer libraries count a title only where it is printed. */
		if (c->width > width)
			width = c->width;
		if (c->kind == KIND_NUMBER)
			flags |= SCOLS_FL_RIGHT;
		else if (c->kind == KIND_LINES)
			flags |= SCOLS_FL_WRAP;
		column = check_alloc(scols_table_new_column(table->scols,
				format == FORMAT_TABLE ? c->title : c->key,
				width, flags));
		scols_column_set_json_type(column, json_type[c->kind]);
		if (c->kind == KIND_LINES) {
			scols_column_set_safechars(column, "\n");
			scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
						  scols_wrapnl_nextchunk, NULL);
		}
	}
	return table;
}

void table_row(struct table *table)
{
	table->line = check_alloc(scols_table_new_line(table->scols, NULL));
	table->next = 0;
}

void put_text(struct table *table, const char *text)
{
	if (scols_line_set_data(table->line, table->next++, text))
		die("out of memory");
}

void put_number(struct table *table, uint64_t number)
{
	char text[NUMBER_TEXT];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	put_text(table, text);
}

void put_hex(struct table *table, uint64_t number)
{
	char text[NUMBER_TEXT];

	snprintf(text, sizeof(text), "0x%" PRIx64, number);
	if (format == FORMAT_TABLE)
		put_text(table, text);
	else
		put_number(table, number);
}

void put_bool(struct table *table, bool value)
{
	if (format == FORMAT_JSON)
		put_text(table, value ? "true" : "false");
	else
		put_text(table, value ? "yes" : "no");
}

void put_bytes(struct table *table, uint64_t bytes)
{
	char text[NUMBER_TEXT];

	if (format == FORMAT_TABLE)
		put_text(table, format_bytes(text, bytes));
	else
		put_number(table, bytes);
}

void put_share(struct table *table, uint64_t part, uint64_t whole)
{
	char text[NUMBER_TEXT + 1], number[NUMBER_TEXT];

	if (!whole) {
		put_nothing(table);
		return;
	}
	snprintf(text, sizeof(text), "%s%s", format_share(number, part, whole),
		 format == FORMAT_TABLE ? "%" : "");
	put_text(table, text);
}

void put_nothing(struct table *table)
{
	/* An empty cell is null in JSON. */
	put_text(table, format == FORMAT_JSON ? "" : "-");
}

void put_word(struct table *table, const char *text)
{
	if (*text)
		put_text(table, text);
	else
		put_nothing(table);
}

/* The library copies numbers as they are, so a list can be written as one. */
static void put_list(struct table *table, const uint32_t weight[NODES_MAX],
		     bool weights)
{
	char text[LIST_TEXT + 2];
	unsigned int node;
	size_t len = 0;

	for (node = 0; node < NODES_MAX; node++)
		if (weight[node])
			len += snprintf(text + len, sizeof(text) - len, "%c%u",
					len ? ',' : '[',
					weights ? weight[node] : node);
	if (!len)
		text[len++] = '[';
	strcpy(text + len, "]");
	put_text(table, text);
}

void put_nodes(struct table *table, const uint32_t weight[NODES_MAX])
{
	char text[LIST_TEXT];

	if (format == FORMAT_JSON)
		put_list(table, weight, false);
	else if (*format_nodes(text, weight))
		put_text(table, text);
	else
		put_nothing(table);
}

void put_weights(struct table *table, const uint32_t weight[NODES_MAX])
{
	char text[LIST_TEXT];

	if (format == FORMAT_JSON)
		put_list(table, weight, true);
	else if (*format_weights(text, weight))
		put_text(table, text);
	else
		put_nothing(table);
}

/* *text is the caller's to free. */
static void table_string(struct table *table, char **text)
{
	*text = NULL;
	if (scols_print_table_to_string(table->scols, text) || !*text)
		die("out of memory");
}

size_t table_width(struct table *table)
{
	char *text, *line;
	size_t width = 0, len;

	table_string(table, &text);
	for (line = text; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (len > width)
			width = len;
	}
	free(text);
	return width;
}

/* The library writes an object a table: take the rows out of its one array. */
static void print_json(struct table *table, char *text)
{
	char *rows = strchr(text, '['), *end = strrchr(text, ']');

	if (!open_array || strcmp(open_array, table->name)) {
		printf("%s   \"%s\": [", open_array ? "\n   ],\n" : ",\n", table->name);
		open_array = table->name;
		has_rows = false;
	}
	if (scols_table_get_nlines(table->scols) && rows && end > rows) {
		while (end > rows + 1 && strchr(" \n", end[-1]))
			end--;
		if (has_rows)
			fputc(',', stdout);
		fwrite(rows + 1, 1, end - rows - 1, stdout);
		has_rows = true;
	}
}

/* The library prints no titles if there is nothing below them. */
static void print_titles(struct table *table)
{
	unsigned int i;

	for (i = 0; i < table->nr; i++)
		printf("%s%s", i ? " " : "",
		       scols_cell_get_data(scols_column_get_header(scols_table_get_column(table->scols, i))));
	putchar('\n');
}

void table_print(struct table *table, bool heading)
{
	char *text;

	if (heading && format != FORMAT_JSON && !scols_table_get_nlines(table->scols)) {
		print_titles(table);
		return;
	}
	scols_table_enable_noheadings(table->scols, !heading);
	table_string(table, &text);
	if (format == FORMAT_JSON)
		print_json(table, text);
	else
		printf("%s%s", text, *text ? "\n" : "");
	free(text);
}

void table_clear(struct table *table)
{
	scols_table_remove_lines(table->scols);
}

void table_free(struct table *table)
{
	scols_unref_table(table->scols);
	free(table);
}

size_t screen_height(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_row;
}

size_t screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	if (columns && atoi(columns) > 0)
		return atoi(columns);
	return DEFAULT_WIDTH;
}
