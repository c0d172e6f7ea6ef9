/* SPDX-License-Identifier: GPL-2.0-only */
/* https://prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decide/explain.h"
#include "common/text.h"
#include "guests/metrics.h"

#define NS_PER_S UINT64_C(1000000000)

void metrics_count(struct domain_metrics *m, const struct verdict *v)
{
	unsigned int i;

	m->backoffs += v->state == STATE_BACKOFF && m->last.state != STATE_BACKOFF;
	m->last = *v;
	m->periods++;
	m->samples += v->measure.samples;
	m->moves += v->moves;
	m->bytes += v->bytes;
	m->frozen += v->frozen;
	m->strange += v->strange;
	m->untracked += v->untracked;
	for (i = 0; i < NR_HELD; i++)
		m->held[i] += v->held[i];
}

static void labels(FILE *f, const struct domain_metrics *m)
{
	const char *c = m->name;

	fprintf(f, "{domid=\"%u\",name=\"", m->id);
	while (*c) {
		size_t n = utf8_character(c);

		/* A collector refuses the whole file for one byte that is no UTF-8. */
		if (!n)
			fputs("\xef\xbf\xbd", f);
		else if (*c == '\n')
			fputs("\\n", f);
		else if (*c == '"' || *c == '\\')
			fprintf(f, "\\%c", *c);
		else
			fwrite(c, 1, n, f);
		c += n ? n : 1;
	}
	fputc('"', f);
}

static const struct {
	const char *name, *help;
	size_t offset;
} counters[] = {
	{ "periods", "Periods that were looked at.", offsetof(struct domain_metrics, periods) },
	{ "samples", "Accesses that were sampled.", offsetof(struct domain_metrics, samples) },
	{ "move_orders", "Pages that were ordered to move; carrefour_moves_result_total has what became of them.",
	  offsetof(struct domain_metrics, moves) },
	{ "move_ordered_bytes", "Bytes that were ordered to move.", offsetof(struct domain_metrics, bytes) },
	{ "pages_frozen", "Pages that moved too often and stay for a while.", offsetof(struct domain_metrics, frozen) },
	{ "backoffs", "Times that moving stopped as it did not help.", offsetof(struct domain_metrics, backoffs) },
	{ "samples_strange", "Samples that make no sense.", offsetof(struct domain_metrics, strange) },
	{ "samples_dropped", "Samples that found the ring full.", offsetof(struct domain_metrics, dropped) },
	{ "samples_lost", "Samples in the ring that could not be read or kept.", offsetof(struct domain_metrics, lost) },
	{ "samples_untracked", "Samples that found the table of pages full.", offsetof(struct domain_metrics, untracked) },
};

/* One family, with a label for what it is divided by. */
static void print_divided(FILE *f, const char *name, const char *help, const char *label, unsigned int kinds,
			  const char *(*name_of)(unsigned int), size_t offset, const struct domain_metrics *domain,
			  unsigned int nr)
{
	unsigned int i, k;

	fprintf(f, "# HELP carrefour_%s %s\n# TYPE carrefour_%s counter\n", name, help, name);
	for (i = 0; i < nr; i++)
		for (k = 0; k < kinds; k++) {
			fprintf(f, "carrefour_%s", name);
			labels(f, &domain[i]);
			fprintf(f, ",%s=\"%s\"} %" PRIu64 "\n", label, name_of(k),
				((const uint64_t *)((const char *)&domain[i] + offset))[k]);
		}
}

static void print_seconds(FILE *f, const char *name, const char *help, const struct domain_metrics *domain, unsigned int nr,
			  size_t offset)
{
	unsigned int i;

	fprintf(f, "# HELP carrefour_%s %s\n# TYPE carrefour_%s counter\n", name, help, name);
	for (i = 0; i < nr; i++) {
		uint64_t ns = *(const uint64_t *)((const char *)&domain[i] + offset);

		fprintf(f, "carrefour_%s", name);
		labels(f, &domain[i]);
		fprintf(f, "} %" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S, ns % NS_PER_S);
	}
}

static void print_counters(FILE *f, const struct domain_metrics *domain, unsigned int nr)
{
	unsigned int c, i;

	for (c = 0; c < sizeof(counters) / sizeof(*counters); c++) {
		fprintf(f, "# HELP carrefour_%s_total %s\n# TYPE carrefour_%s_total counter\n", counters[c].name,
			counters[c].help, counters[c].name);
		for (i = 0; i < nr; i++) {
			fprintf(f, "carrefour_%s_total", counters[c].name);
			labels(f, &domain[i]);
			fprintf(f, "} %" PRIu64 "\n", *(const uint64_t *)((const char *)&domain[i] + counters[c].offset));
		}
	}
	print_seconds(f, "sampling_seconds_total", "Time that Xen spent on sampling.", domain, nr,
		      offsetof(struct domain_metrics, sampling_ns));
	print_seconds(f, "guest_seconds_total", "Time for which the vCPUs ran while sampled.", domain, nr,
		      offsetof(struct domain_metrics, guest_ns));
	print_divided(f, "moves_held_total", "Moves that were wanted and not ordered.", "by", NR_HELD, held_name,
		      offsetof(struct domain_metrics, held), domain, nr);
	print_divided(f, "moves_result_total", "What became of pages that were ordered to move.", "result", NR_RESULTS,
		      result_name, offsetof(struct domain_metrics, results), domain, nr);
}

static void print_gauge(FILE *f, const char *name, const char *help, const struct domain_metrics *domain,
			unsigned int nr, size_t offset)
{
	unsigned int i;

	fprintf(f, "# HELP carrefour_%s %s\n# TYPE carrefour_%s gauge\n", name, help, name);
	for (i = 0; i < nr; i++) {
		unsigned int permille;

		/* Without samples a share is not 0, it is not known. */
		if (!domain[i].known || !domain[i].last.measure.samples)
			continue;
		permille = *(const unsigned int *)((const char *)&domain[i].last.measure + offset);

		fprintf(f, "carrefour_%s", name);
		labels(f, &domain[i]);
		fprintf(f, "} %u.%03u\n", permille / 1000, permille % 1000);
	}
}

static void print_gauges(FILE *f, const struct domain_metrics *domain, unsigned int nr)
{
	unsigned int i, s;

	print_gauge(f, "local_ratio", "Share of the samples that were local.", domain, nr, offsetof(struct measure, local));
	print_gauge(f, "imbalance_ratio", "Relative standard deviation of accesses between home nodes.", domain, nr,
		    offsetof(struct measure, imbalance));
	print_gauge(f, "busiest_pair_ratio", "Share of the samples between the two nodes with most traffic.", domain, nr,
		    offsetof(struct measure, pair));
	fputs("# HELP carrefour_state What the last period was found to be.\n# TYPE carrefour_state gauge\n", f);
	for (i = 0; i < nr; i++)
		for (s = 0; domain[i].known && s < NR_STATES; s++) {
			fputs("carrefour_state", f);
			labels(f, &domain[i]);
			fprintf(f, ",state=\"%s\"} %d\n", state_name(s), domain[i].last.state == s);
		}
}

void metrics_print(FILE *f, const struct domain_metrics *domain, unsigned int nr)
{
	print_counters(f, domain, nr);
	print_gauges(f, domain, nr);
}

/* A link that somebody has put there is not followed, and what it leads to is left as it is. */
static FILE *create(const char *path)
{
	FILE *f = NULL;
	int fd;

	if (unlink(path) && errno != ENOENT)
		return NULL;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* A device or a pipe would be gone for all others. */
static bool may_be_replaced(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT;
	if (S_ISREG(st.st_mode))
		return true;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	return false;
}

bool metrics_possible(const char *path, char *error, size_t size)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	struct stat st;

	if (!slash)
		return true;
	snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (stat(directory, &st) || !S_ISDIR(st.st_mode)) {
		snprintf(error, size, "metrics: there is no directory '%.300s'; make it, or name a file in another one", directory);
		return false;
	}
	if (may_be_replaced(path))
		return true;
	snprintf(error, size, "metrics: '%.300s' is there, and is no regular file; name another one", path);
	return false;
}

bool metrics_write(const char *path, const struct domain_metrics *domain, unsigned int nr)
{
	char new[PATH_MAX];
	FILE *f;
	bool bad;
	int error;

	/* In the same directory, or it could not be renamed; the collector reads *.prom only. */
	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!may_be_replaced(path))
		return false;
	f = create(new);
	if (!f)
		return false;
	metrics_print(f, domain, nr);
	bad = fflush(f) || ferror(f);
	error = errno;
	/* Some file systems tell of a full disk only now. */
	if (fclose(f) || bad || rename(new, path)) {
		error = bad ? error : errno;
		unlink(new);
		errno = error;
		return false;
	}
	return true;
}
