/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be asked:
 *
 *	heal			what heal would do, as of when it looked last
 *	show			all domains that have anything on, as of the last period
 *	explain DOMID		one of them, with its last decisions
 *	record DOMID|all	with a file that is passed: a trace, until the client says no more
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/heal.h"
#include "control/record.h"
#include "control/requests.h"
#include "control/view.h"

static const struct daemon *daemon_state;

static bool parse_id(const char *text, unsigned int *id)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > UINT16_MAX)
		return false;
	*id = n;
	return true;
}

/* What follows @word and a space; NULL: it is another word. */
static const char *after(const char *line, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static void explain(FILE *to, const char *which)
{
	const struct guest *g;
	unsigned int id;

	if (!parse_id(which, &id))
		view_error(to, "'%.64s' is no domain id", which);
	else if ((g = guests_find(daemon_state, id)))
		view_explain(to, daemon_state, g);
	else if (!heal_view_explain(to, daemon_state, id))
		view_error(to, "carrefourd does not watch VM %u, as Carrefour and auto are off for it; "
			   "'xl numa-policy set %u +auto=advise' has it watched, '+carrefour' has its pages moved, too", id, id);
}

/* Takes the file. A domain that is switched on later is recorded from its first period; until then periods are empty. */
static void *record(FILE *to, const char *which, int fd)
{
	unsigned int id = RECORD_ALL;
	struct recording *r = NULL;
	const char *why;

	if (fd < 0) {
		view_error(to, "no file was passed to write to");
	} else if (strcmp(which, "all") && !parse_id(which, &id)) {
		view_error(to, "'%.64s' is no domain id; record takes one, or all", which);
		close(fd);
	} else {
		r = record_begin(fd, id, &daemon_state->config, &daemon_state->host, &why);
		if (!r)
			view_error(to, "%s", why);
	}
	return r;
}

static void *request(FILE *to, const char *line, int fd)
{
	const char *which = after(line, "record");

	if (which)
		return record(to, which, fd);
	if (fd >= 0)
		close(fd);
	if (!strcmp(line, "show"))
		view_show(to, daemon_state);
	else if (!strcmp(line, "heal"))
		heal_view(to, daemon_state);
	else if ((which = after(line, "explain")))
		explain(to, which);
	else
		view_error(to, "'%.64s' is no request; there are show, heal, explain DOMID, and record DOMID or all", line);
	return NULL;
}

static bool is_over(void *recording)
{
	return record_is_over(recording);
}

static void end(void *recording, FILE *to)
{
	struct record_end e = record_finish(recording);

	if (!to)
		return;
	if (e.error)
		view_error(to, "the trace could not be written on: %s", strerror(e.error));
	else
		fprintf(to, "{\"version\": 1, \"periods\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"reconfigured\": %s}\n",
			e.periods, e.samples, e.reconfigured ? "true" : "false");
}

const struct service *requests_begin(const struct daemon *d)
{
	static const struct service service = { .request = request, .is_over = is_over, .end = end };

	daemon_state = d;
	return &service;
}
