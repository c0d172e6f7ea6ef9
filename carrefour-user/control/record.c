/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/record.h"

struct recording {
	FILE *file;
	unsigned int domid;
	bool in_period;		/* that is being written */
	off_t whole;		/* up to here, all is */
	struct record_end end;
};

static struct recording recordings[RECORDINGS_MAX];

static const char *refusal(int fd, const struct recording *r)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (!r)
		return "too many recordings at a time";
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return "a trace is written to a regular file";
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return "the file is not open for writing";
	return NULL;
}

struct recording *record_begin(int fd, unsigned int domid, const struct config *config, const struct host *host,
			       const char **why)
{
	struct recording *r = recordings;

	while (r < recordings + RECORDINGS_MAX && r->file)
		r++;
	if (r == recordings + RECORDINGS_MAX)
		r = NULL;
	*why = refusal(fd, r);
	if (*why) {
		close(fd);
		return NULL;
	}
	*r = (struct recording){ .file = fdopen(fd, "w"), .domid = domid };
	if (!r->file) {
		*why = "out of memory";
		close(fd);
		return NULL;
	}
	/* After what is there, which is not the recording's to take back. */
	if (fcntl(fd, F_GETFL) & O_APPEND)
		fseeko(r->file, 0, SEEK_END);
	r->whole = ftello(r->file);
	trace_write_begin(r->file, config, host);
	return r;
}

/* Each period is whole in the file, or the recording ends. */
static void check_written(struct recording *r)
{
	if (r->end.error)
		return;
	/* What failed before now is not known any more. */
	errno = 0;
	if (fflush(r->file) || ferror(r->file))
		r->end.error = errno ? errno : EIO;
}

/* A period that will not be whole, with what is not written of it yet. */
static void take_back(struct recording *r)
{
	__fpurge(r->file);
	if ((ftruncate(fileno(r->file), r->whole) || fseeko(r->file, r->whole, SEEK_SET)) && !r->end.error)
		r->end.error = errno;
}

struct record_end record_finish(struct recording *r)
{
	struct record_end end;

	if (r->in_period || r->end.error)
		take_back(r);
	if (!r->end.error) {
		trace_write_end(r->file);
		check_written(r);
	}
	if (fclose(r->file) && !r->end.error)
		r->end.error = errno;
	r->file = NULL;
	end = r->end;
	return end;
}

bool record_is_over(const struct recording *r)
{
	return r->end.error || r->end.reconfigured;
}

static bool is_of(const struct recording *r, const struct trace_domain *d)
{
	return r->domid == RECORD_ALL || r->domid == d->id;
}

static void begin_period(struct recording *r, const struct trace_period *p, unsigned int nr_nodes)
{
	/* All before it, and be it the beginning of the trace. */
	check_written(r);
	if (r->end.error)
		return;
	r->whole = ftello(r->file);
	r->in_period = true;
	trace_write_head(r->file, nr_nodes, p);
}

static void end_period(struct recording *r, const struct trace_period *p)
{
	unsigned int i;

	check_written(r);
	r->in_period = false;
	if (r->end.error)
		return;
	r->end.periods++;
	for (i = 0; i < p->nr; i++)
		if (is_of(r, &p->domain[i]))
			r->end.samples += p->domain[i].in.nr_samples;
}

void record_period(const struct trace_period *p, unsigned int nr_nodes, bool (*between)(void *with), void *with)
{
	struct recording *r, *end = recordings + RECORDINGS_MAX;
	unsigned int i;

	for (r = recordings; r < end; r++)
		if (r->file && !record_is_over(r))
			begin_period(r, p, nr_nodes);
	for (i = 0; i < p->nr && between(with); i++)
		/* Some may have ended meanwhile, and others begun, which wait for the next period. */
		for (r = recordings; r < end; r++)
			if (r->file && r->in_period && is_of(r, &p->domain[i]))
				trace_write_domain(r->file, nr_nodes, &p->domain[i]);
	for (r = recordings; i == p->nr && r < end; r++)
		if (r->file && r->in_period)
			end_period(r, p);
}

void record_reconfigured(void)
{
	struct recording *r;

	for (r = recordings; r < recordings + RECORDINGS_MAX; r++)
		if (r->file)
			r->end.reconfigured = true;
}

bool record_any(void)
{
	struct recording *r;

	for (r = recordings; r < recordings + RECORDINGS_MAX; r++)
		if (r->file && !record_is_over(r))
			return true;
	return false;
}
