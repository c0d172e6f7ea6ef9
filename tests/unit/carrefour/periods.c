/* SPDX-License-Identifier: GPL-2.0-only */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/period.h"
#include "daemon/sampling.h"
#include "daemon/tell.h"
#include "periods.h"
#include "process/clock.h"

struct daemon d;
uint64_t longest, serving_takes;
unsigned int end_after;
static uint64_t served_at;
static int said = -1;			/* what periods say, instead of to stderr */

static void serve(struct daemon *daemon)
{
	uint64_t now = clock_ns();

	if (now - served_at > longest)
		longest = now - served_at;
	served_at = now;
	fake.now += serving_takes;
	if (end_after && !--end_after)
		daemon->ends = true;
}

void begin(unsigned int nr_nodes, unsigned int nr)
{
	fake_begin(nr_nodes, nr);
	d = (struct daemon){ .config = config_defaults(), .host.nr_nodes = nr_nodes, .serve = serve, .now = fake.now,
			     .version = "test", .metrics.begun_at = clock_wall_ns() };
	longest = serving_takes = end_after = 0;
	close(said);
	said = open("said", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	assert_true(said >= 0);
}

void end(void)
{
	sampling_end_all(&d);
	fake_end();
}

void begin_with_metrics(unsigned int nr_nodes, unsigned int nr)
{
	begin(nr_nodes, nr);
	strcpy(d.config.metrics, FILE_NAME);
	d.config.metrics_ms = 1000;
}

void end_with_metrics(void)
{
	tell_no_metrics(&d);
	end();
}

void periods(unsigned int nr)
{
	int out;

	fflush(stderr);
	out = dup(STDERR_FILENO);
	dup2(said, STDERR_FILENO);
	while (nr-- && !d.ends) {
		uint64_t before = d.now;

		fake.now += d.config.period_ms * MS;
		d.now = served_at = d.served_at = d.read_at = fake.now;
		d.ns = d.now - before;
		period_run(&d);
	}
	fflush(stderr);
	dup2(out, STDERR_FILENO);
	close(out);
}

unsigned int lines(const char *what)
{
	char line[2048];
	unsigned int nr = 0;
	FILE *f = fopen("said", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		nr += strstr(line, what) != NULL;
	fclose(f);
	return nr;
}

bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

bool has(const char *path, const char *what)
{
	char *text = NULL;
	size_t room = 0;
	bool found;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(getdelim(&text, &room, '\0', f) > 0);
	fclose(f);
	found = strstr(text, what);
	free(text);
	return found;
}
