/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables whose rows are structs: what a column is called, and which member its cells are. */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "print/output.h"

/* The type of the member, and how it is printed. */
enum cell {
	CELL_TEXT,	/* const char *, nothing if NULL */
	CELL_CHARACTERS, /* char [] */
	CELL_NUMBER,	/* uint64_t */
	CELL_NUMBER32,	/* uint32_t */
	CELL_BYTES,	/* uint64_t */
	CELL_PAGES,	/* uint64_t, of 4 KiB: printed as bytes */
	CELL_SECONDS,	/* uint64_t, in ns */
	CELL_BOOL,	/* bool */
	CELL_SHARE,	/* struct share, nothing if the whole is 0 */
	CELL_LOCALITY,	/* struct locality, the same; people see a mark at one that is estimated */
	CELL_NODES,	/* uint32_t [NODES_MAX], weights: the nodes that have one */
	CELL_WEIGHTS,	/* the same: their weights */
};

struct share {
	uint64_t part, whole;
};

/* How local the accesses of a domain are: as sampled, or as they are expected to be. */
struct locality {
	struct share share;
	bool estimated;
};

struct field {
	const char *title;	/* above the column */
	const char *key;	/* the name in JSON */
	enum cell cell;
	size_t offset;		/* of the member */
	size_t known;		/* IF() of a bool that says whether it is known; 0: it always is */
	enum { FOR_ALL, FOR_PEOPLE, FOR_PROGRAMS } only;
};

/* Never 0, also of the first member. */
#define IF(type, member) (offsetof(type, member) + 1)

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* As table_new() wants them; how many there are in this format. */
unsigned int fields_to_columns(const struct field *fields, unsigned int nr, struct column *columns);
/* The next cells of the row. row: NULL prints nothing in each. */
void put_fields(struct table *table, const struct field *fields, unsigned int nr, const void *row);

/* One object of JSON in a line, with the version of the schema. Lists are not for it. Ends the program if it cannot write. */
void print_object(const struct field *fields, unsigned int nr, const void *row);

/* A table of nr fields, without rows. */
struct table *table_of_fields(const char *name, const struct field *fields, unsigned int nr);

#endif
