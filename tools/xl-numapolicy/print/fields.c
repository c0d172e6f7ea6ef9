/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells by what the table of fields says of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errors.h"
#include "common/json.h"
#include "print/fields.h"
#include "print/format.h"

/* Whether it is a column in this format. */
static bool is_column(const struct field *field)
{
	return field->only == FOR_ALL || (field->only == FOR_PEOPLE) == (output_format() == FORMAT_TABLE);
}

unsigned int fields_to_columns(const struct field *fields, unsigned int nr, struct column *columns)
{
	/* Lists are arrays in JSON, which KIND_NUMBER does not quote. */
	static const enum kind kinds[] = {
		[CELL_TEXT] = KIND_TEXT, [CELL_CHARACTERS] = KIND_TEXT,
		[CELL_NUMBER] = KIND_NUMBER, [CELL_NUMBER32] = KIND_NUMBER,
		[CELL_BYTES] = KIND_NUMBER, [CELL_PAGES] = KIND_NUMBER, [CELL_SECONDS] = KIND_NUMBER,
		[CELL_BOOL] = KIND_BOOL, [CELL_SHARE] = KIND_NUMBER, [CELL_LOCALITY] = KIND_NUMBER,
		[CELL_NODES] = KIND_LIST, [CELL_WEIGHTS] = KIND_LIST,
	};
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		if (is_column(&fields[i]))
			columns[n++] = (struct column){ fields[i].title, fields[i].key, kinds[fields[i].cell] };
	return n;
}

static void put_locality(struct table *table, const struct locality *locality)
{
	char text[NUMBER_TEXT + 2], number[NUMBER_TEXT];

	if (output_format() != FORMAT_TABLE || !locality->estimated || !locality->share.whole) {
		put_share(table, locality->share.part, locality->share.whole);
		return;
	}
	snprintf(text, sizeof(text), "~%s%%", format_share(number, locality->share.part, locality->share.whole));
	put_text(table, text);
}

static void put_field(struct table *table, const struct field *field, const char *row)
{
	const void *member = row + field->offset;
	const struct share *share = member;
	char text[NUMBER_TEXT];

	switch (field->cell) {
	case CELL_TEXT:
		if (*(const char *const *)member)
			put_text(table, *(const char *const *)member);
		else
			put_nothing(table);
		break;
	case CELL_CHARACTERS:
		put_text(table, member);
		break;
	case CELL_NUMBER:
		put_number(table, *(const uint64_t *)member);
		break;
	case CELL_NUMBER32:
		put_number(table, *(const uint32_t *)member);
		break;
	case CELL_BYTES:
		put_bytes(table, *(const uint64_t *)member);
		break;
	case CELL_PAGES:
		put_bytes(table, *(const uint64_t *)member * PAGE_BYTES);
		break;
	case CELL_SECONDS:
		put_text(table, format_seconds(text, *(const uint64_t *)member));
		break;
	case CELL_BOOL:
		put_bool(table, *(const bool *)member);
		break;
	case CELL_SHARE:
		put_share(table, share->part, share->whole);
		break;
	case CELL_LOCALITY:
		put_locality(table, member);
		break;
	case CELL_NODES:
		put_nodes(table, member);
		break;
	case CELL_WEIGHTS:
		put_weights(table, member);
		break;
	}
}

void put_fields(struct table *table, const struct field *fields, unsigned int nr, const void *row)
{
	const char *start = row;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const size_t known = fields[i].known;

		if (!is_column(&fields[i]))
			continue;
		if (!row || (known && !*(const bool *)(start + known - 1)))
			put_nothing(table);
		else
			put_field(table, &fields[i], start);
	}
}

struct table *table_of_fields(const char *name, const struct field *fields, unsigned int nr)
{
	struct column *columns = check_alloc(calloc(nr, sizeof(*columns)));
	struct table *table;

	table = table_new(name, columns, fields_to_columns(fields, nr, columns));
	free(columns);
	return table;
}

static void print_value(const struct field *field, const void *member)
{
	const struct share *share = member;
	char text[NUMBER_TEXT];

	switch (field->cell) {
	case CELL_TEXT:
		json_text(stdout, *(const char *const *)member);
		break;
	case CELL_NUMBER32:
		printf("%" PRIu32, *(const uint32_t *)member);
		break;
	case CELL_PAGES:
		printf("%" PRIu64, (uint64_t)(*(const uint64_t *)member * PAGE_BYTES));
		break;
	case CELL_SECONDS:
		fputs(format_seconds(text, *(const uint64_t *)member), stdout);
		break;
	case CELL_BOOL:
		fputs(*(const bool *)member ? "true" : "false", stdout);
		break;
	case CELL_SHARE:
		fputs(share->whole ? format_share(text, share->part, share->whole) : "null", stdout);
		break;
	case CELL_NUMBER:
	case CELL_BYTES:
		printf("%" PRIu64, *(const uint64_t *)member);
		break;
	case CELL_CHARACTERS:
	case CELL_LOCALITY:
	case CELL_NODES:
	case CELL_WEIGHTS:
		/* No object has any. */
		abort();
	}
}

void print_object(const struct field *fields, unsigned int nr, const void *row)
{
	const char *start = row;
	unsigned int i;

	printf("{\"version\": %d", SCHEMA);
	for (i = 0; i < nr; i++) {
		if (fields[i].only == FOR_PEOPLE)
			continue;
		printf(", \"%s\": ", fields[i].key);
		if (fields[i].known && !*(const bool *)(start + fields[i].known - 1))
			fputs("null", stdout);
		else
			print_value(&fields[i], start + fields[i].offset);
	}
	puts("}");
	output_check();
}
