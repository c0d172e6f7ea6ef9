/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings: whole traces, whatever begins or ends meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chance.h"
#include "control/record.h"

static const struct host two_nodes = { .nr_nodes = 2 };
static bool go_on(void *with)
{
	return !with;
}

static struct trace_domain traced(unsigned int id, const uint64_t *matrix, const struct sample *s, size_t nr)
{
	return (struct trace_domain){
		.id = id, .policy = "first-touch", .in = { .home = 3, .matrix = matrix, .sample = s, .nr_samples = nr },
	};
}

/* What a recording has, as trace-read.c takes it: periods in the low half, samples in the high one. */
static uint64_t read_back(const char *path, unsigned int vm_moves, uint64_t turn)
{
	struct trace_period p;
	struct trace t;
	uint64_t periods = 0, samples = 0;
	FILE *f = fopen(path, "r");
	unsigned int i;
	int found;

	assert_true(trace_open(&t, f, path));
	assert_int_equal(t.config.vm_moves, vm_moves);
	while ((found = trace_read(&t, &p)) > 0) {
		periods++;
		assert_true(p.has_turn == (turn > 0) && p.turn == turn);
		for (i = 0; i < p.nr; i++)
			samples += p.domain[i].in.nr_samples;
		trace_free(&p);
	}
	assert_int_equal(found, 0);
	assert_int_equal(fgetc(f), EOF);
	trace_close(&t);
	fclose(f);
	return periods | samples << 32;
}

static void recordings_are_whole_traces(void **unused)
{
	const uint64_t matrix[4] = { 1, 2, 0, 4 };
	const struct sample s[3] = { { .gfn = 1 }, { .gfn = 2 }, { .gfn = 3 } };
	struct trace_domain domain[2] = { traced(5, matrix, s, 1), traced(6, matrix, s, 3) };
	struct trace_period p = { .ns = 1000, .accesses_per_us = -1, .has_turn = true, .turn = 7, .domain = domain, .nr = 2 };
	struct config c = config_defaults();
	struct recording *one, *all;
	struct record_end e;
	char path[2][40] = { "carrefour-trace-XXXXXX", "carrefour-trace-XXXXXX" };
	const char *why;
	int fd[2] = { mkstemp(path[0]), mkstemp(path[1]) };

	(void)unused;
	c.vm_moves = 77;
	assert_false(record_any());
	one = record_begin(fd[0], 6, &c, &two_nodes, &why);
	all = record_begin(fd[1], RECORD_ALL, &c, &two_nodes, &why);
	assert_true(one && all && record_any());
	record_period(&p, 2, go_on, NULL);
	record_period(&p, 2, go_on, NULL);
	e = record_finish(one);
	assert_true(e.periods == 2 && e.samples == 6 && !e.error && !e.reconfigured);
	record_reconfigured();
	assert_true(record_is_over(all) && !record_any());
	record_period(&p, 2, go_on, NULL);
	e = record_finish(all);
	assert_true(e.periods == 2 && e.samples == 8 && !e.error && e.reconfigured);
	assert_int_equal(read_back(path[0], 77, 7), 2 | 6ULL << 32);
	assert_int_equal(read_back(path[1], 77, 7), 2 | 8ULL << 32);
	unlink(path[0]);
	unlink(path[1]);
}

static struct recording *ends, *begins;
static int begins_in;

/* Within a period one ends, and another one begins. */
static bool change_recordings(void *with)
{
	const char *why;

	if (ends) {
		assert_true(record_finish(ends).periods == 1);
		ends = NULL;
		begins = record_begin(begins_in, RECORD_ALL, with, &two_nodes, &why);
	}
	return true;
}

static void a_period_is_whole_or_not_there(void **unused)
{
	const uint64_t matrix[4] = { 1, 2, 0, 4 };
	const struct sample s[1] = { { .gfn = 1 } };
	struct trace_domain domain[2] = { traced(5, matrix, s, 1), traced(6, matrix, s, 1) };
	struct trace_period p = { .ns = 1000, .accesses_per_us = -1, .domain = domain, .nr = 2 };
	char path[2][40] = { "carrefour-trace-XXXXXX", "carrefour-trace-XXXXXX" };
	struct config c = config_defaults();
	const char *why;

	(void)unused;
	c.vm_moves = 77;
	ends = record_begin(mkstemp(path[0]), RECORD_ALL, &c, &two_nodes, &why);
	begins_in = mkstemp(path[1]);
	record_period(&p, 2, go_on, NULL);
	record_period(&p, 2, change_recordings, &c);
	record_period(&p, 2, go_on, NULL);
	/* The daemon ends. */
	record_period(&p, 2, go_on, &c);
	assert_int_equal(record_finish(begins).periods, 1);
	assert_int_equal(read_back(path[0], 77, 0), 1 | 2ULL << 32);
	assert_int_equal(read_back(path[1], 77, 0), 1 | 2ULL << 32);
	unlink(path[0]);
	unlink(path[1]);
}

/* What there was no room for ends it; the periods before are whole, and what the file had before the recording stays. */
static void a_full_disk_ends_a_recording(void **unused)
{
	const uint64_t matrix[4] = { 1, 2, 0, 4 };
	struct sample s[1000] = { { .gfn = 1 } };
	struct trace_domain domain[1] = { traced(5, matrix, s, 1000) };
	struct trace_period p = { .ns = 1000, .accesses_per_us = -1, .domain = domain, .nr = 1 };
	char path[] = "carrefour-trace-XXXXXX", text[65536] = "";
	struct config c = config_defaults();
	struct rlimit before, little;
	struct recording *r;
	struct record_end e;
	const char *why;
	unsigned int i, append;
	int fd = mkstemp(path);

	(void)unused;
	c.vm_moves = 77;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (append = 0; append < 2; append++) {
		assert_true(pwrite(fd, "mine\n", 5, 0) == 5 && !ftruncate(fd, 5));
		r = record_begin(open(path, O_RDWR | (append ? O_APPEND : 0)), 5, &c, &two_nodes, &why);
		assert_non_null(r);
		/* Some periods, and a part of the next one; or not even the beginning. */
		little = (struct rlimit){ append ? 9 : 40000, before.rlim_max };
		setrlimit(RLIMIT_FSIZE, &little);
		for (i = 0; i < 20 && !record_is_over(r); i++)
			record_period(&p, 2, go_on, NULL);
		assert_true(record_is_over(r) && !record_any());
		/* Room that there is again is none for what it could not write. */
		setrlimit(RLIMIT_FSIZE, &before);
		e = record_finish(r);
		assert_int_equal(e.error, EFBIG);
		memset(text, 0, sizeof(text));
		assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
		if (append) {
			assert_string_equal(text, "mine\n");
			continue;
		}
		assert_true(i > 1 && strlen(text) < 40000 && text[strlen(text) - 1] == '\n' && !strstr(text, "\nend\n"));
		/* Whole, but for the end. */
		assert_int_equal(pwrite(fd, "end\n", 4, strlen(text)), 4);
		assert_int_equal(read_back(path, 77, 0), e.periods | e.periods * 1000 << 32);
	}
	close(fd);
	unlink(path);
}

static void files_that_would_hold_up_all_are_refused(void **unused)
{
	struct config c = config_defaults();
	const char *why;
	char path[] = "carrefour-trace-XXXXXX";
	int ends[2], fd = mkstemp(path), i;
	struct recording *r[RECORDINGS_MAX];

	(void)unused;
	assert_int_equal(pipe(ends), 0);
	assert_null(record_begin(ends[1], 5, &c, &two_nodes, &why));
	assert_string_equal(why, "a trace is written to a regular file");
	assert_true(fcntl(ends[1], F_GETFD) < 0);
	close(ends[0]);
	assert_null(record_begin(open(path, O_RDONLY), 5, &c, &two_nodes, &why));
	assert_string_equal(why, "the file is not open for writing");
	for (i = 0; i < RECORDINGS_MAX; i++)
		assert_non_null(r[i] = record_begin(dup(fd), 5, &c, &two_nodes, &why));
	assert_null(record_begin(fd, 5, &c, &two_nodes, &why));
	assert_string_equal(why, "too many recordings at a time");
	assert_true(fcntl(fd, F_GETFD) < 0);
	for (i = 0; i < RECORDINGS_MAX; i++)
		record_finish(r[i]);
	unlink(path);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_are_whole_traces),
		cmocka_unit_test(a_period_is_whole_or_not_there),
		cmocka_unit_test(a_full_disk_ends_a_recording),
		cmocka_unit_test(files_that_would_hold_up_all_are_refused),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
