/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <string.h>

#include "common/text.h"
#include "metrics/families.h"

#define NS_PER_S UINT64_C(1000000000)

/* A collector refuses the whole file for one byte that is no UTF-8. */
static char *escape(char *to, const char *end, const char *c)
{
	/* The longest that a character becomes, and the closing mark. */
	while (*c && to + 6 < end) {
		size_t n = utf8_character(c);

		if (!n)
			to = stpcpy(to, UTF8_INSTEAD);
		else if (*c == '\n')
			to = stpcpy(to, "\\n");
		else if (*c == '"' || *c == '\\')
			*to++ = '\\', *to++ = *c;
		else
			to = mempcpy(to, c, n);
		c += n ? n : 1;
	}
	return to;
}

void metrics_label(struct metrics_domain *d, const char *uuid, const char *name)
{
	const char *end = d->labels + sizeof(d->labels);
	char *to = d->labels;

	if (*uuid)
		to += sprintf(to, "uuid=\"%.36s\",", uuid);
	to = stpcpy(to, "domain=\"");
	strcpy(escape(to, end, name), "\"");
}

void family(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void sample_of(FILE *f, const char *name, const struct metrics_domain *domain, const char *more)
{
	fputs(name, f);
	fputc('{', f);
	fputs(domain->labels, f);
	if (more) {
		fputc(',', f);
		fputs(more, f);
	}
	fputs("} ", f);
}

void value_integer(FILE *f, uint64_t value)
{
	fprintf(f, "%" PRIu64 "\n", value);
}

void value_ns(FILE *f, uint64_t ns)
{
	fprintf(f, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S, ns % NS_PER_S);
}

void nodes_text(char text[NODES_SIZE], uint64_t nodes)
{
	unsigned int first, n = 0;

	*text = '\0';
	while (n < NODES_MAX) {
		if (!(nodes >> n & 1)) {
			n++;
			continue;
		}
		for (first = n; n < NODES_MAX && nodes >> n & 1; n++)
			;
		text += sprintf(text, "%u", first);
		if (n - 1 > first)
			text += sprintf(text, "-%u", n - 1);
		if (n < NODES_MAX && nodes >> n)
			text = stpcpy(text, ",");
	}
}

void metrics_print(FILE *f, const struct metrics_domain *domain, unsigned int nr, const struct daemon *daemon)
{
	if (daemon) {
		print_daemon(f, daemon);
		print_host(f, daemon);
		print_hosted(f, domain, nr, daemon->host.nr_nodes);
	}
	print_guests(f, domain, nr);
}
