/* SPDX-License-Identifier: GPL-2.0-only */
/* where: the node and page size of single guest pages. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"

/* Bounds the memory that any range takes, here and in libxl. */
#define BATCH 4096

struct range {
	uint64_t first, last;
};

struct job {
	const struct domain *domain;
	struct table *table;
	struct page page[BATCH];
	unsigned int nr;
	bool begun;
};

/* Decimal or 0x hexadecimal; NULL if text does not begin with a number. */
static const char *parse_gfn(const char *text, uint64_t *gfn)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (!(hex ? isxdigit((unsigned char)*digits) :
		    isdigit((unsigned char)*digits)))
		return NULL;
	errno = 0;
	*gfn = strtoull(digits, &end, hex ? 16 : 10);
	return errno ? NULL : end;
}

static struct range parse_range(const char *text)
{
	struct range range;
	const char *rest = parse_gfn(text, &range.first);

	range.last = range.first;
	if (rest && *rest == '-')
		rest = parse_gfn(rest + 1, &range.last);
	if (!rest || *rest)
		die("'%s' is no gfn; write a number like 4096 or 0x1000, or a range like 0x1000-0x1fff",
		    text);
	if (range.first > range.last)
		die("range '%s' runs backwards; write the lower gfn first", text);
	return range;
}

static void flush(struct job *job)
{
	unsigned int i;

	check_domain(backend_locate(job->domain->id, job->page, job->nr),
		     job->domain, "ask for the pages of");
	for (i = 0; i < job->nr; i++) {
		const struct page *page = &job->page[i];

		table_row(job->table);
		put_hex(job->table, page->gfn);
		if (page->node == NO_NODE) {
			put_nothing(job->table);
			put_nothing(job->table);
		} else {
			put_number(job->table, page->node);
			put_bytes(job->table, PAGE_BYTES << page->order);
		}
	}
	table_print(job->table, !job->begun);
	table_clear(job->table);
	output_check();
	job->begun = true;
	job->nr = 0;
}

static void run(const struct options *options, int argc, char **argv)
{
	struct column columns[] = {
		{ "GFN", "gfn", KIND_NUMBER },
		{ "NODE", "node", KIND_NUMBER },
		{ "SIZE", "size_bytes", KIND_NUMBER },
	};
	struct range *ranges = check_alloc(calloc(argc, sizeof(*ranges)));
	static struct job job;
	struct domain domain = { 0 };
	int i;

	/* All of the command line first: an error in it must not follow output. */
	for (i = 1; i < argc; i++) {
		unsigned int width;

		ranges[i] = parse_range(argv[i]);
		/* All batches alike: as wide as the widest gfn. */
		width = snprintf(NULL, 0, "0x%" PRIx64, ranges[i].last);
		if (width > columns[0].width)
			columns[0].width = width;
	}
	find_guest(argv[0], &domain);

	output_begin(options->format);
	job.domain = &domain;
	job.table = table_new("pages", columns,
			      sizeof(columns) / sizeof(*columns));
	for (i = 1; i < argc; i++) {
		uint64_t gfn = ranges[i].first;

		do {
			job.page[job.nr++].gfn = gfn;
			if (job.nr == BATCH)
				flush(&job);
		} while (gfn++ != ranges[i].last);
	}
	if (job.nr)
		flush(&job);
	table_free(job.table);
	output_end();
	free(domain.name);
	free(ranges);
}

static const struct option_spec options_where[] = {
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_where = {
	.name = "where",
	.arguments = "DOM GFN...",
	.summary = "the node and the size of pages of a VM",
	.options = options_where,
	.help =
"A GFN is the number of a page as the guest counts: decimal, hexadecimal with 0x,\n"
"or a range of numbers. A page without RAM shows \"-\".\n"
"\n"
"Examples:\n"
"  xl numa-policy where guest1 0x1000\n"
"  xl numa-policy where guest1 0-0xfff 65536\n"
"  xl numa-policy where guest1 0-0x1ffff --raw | awk 'NR > 1 { n[$2]++ }\n"
"      END { for (i in n) print i, n[i] }'\n",
	.min_arguments = 2,
	.max_arguments = -1,
	.run = run,
};
