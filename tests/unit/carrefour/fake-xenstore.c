/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xenstore.h>

#include "chance.h"
#include "fake-xenstore.h"

static struct {
	char path[64], value[64];
} keys[KEYS_MAX];
unsigned int nr_keys;
char events[KEYS_MAX][64];
unsigned int nr_events, at_event, reads, broken;
const char *broken_key;
bool list_is_broken;
void (*meanwhile)(void);
static unsigned int changes, begun_at;	/* that there were ever, and when the transaction began */
static struct {
	unsigned int id;
	char key[64], value[64];
} written[8];
static unsigned int nr_written;

/*
 * What libxenstore promises is kept: malloc()ed answers, errno, NULL for what is not there; a transaction writes all or
 * nothing, and ends with EAGAIN if something has changed since it began.
 */

struct xs_handle *xs_open(unsigned long flags)
{
	(void)flags;
	return (struct xs_handle *)keys;
}

void xs_close(struct xs_handle *h)
{
	(void)h;
}

const char *xs_daemon_socket(void)
{
	return "/nonexistent";
}

int xs_fileno(struct xs_handle *h)
{
	(void)h;
	return 0;
}

bool xs_watch(struct xs_handle *h, const char *path, const char *token)
{
	(void)h, (void)token;
	/* Each watch fires once when it is set. */
	snprintf(events[nr_events++], sizeof(*events), "%s", path);
	return true;
}

char **xs_check_watch(struct xs_handle *h)
{
	char **event;

	(void)h;
	if (at_event == nr_events) {
		at_event = nr_events = 0;
		errno = EAGAIN;
		return NULL;
	}
	event = malloc(2 * sizeof(*event) + 64);
	event[XS_WATCH_PATH] = (char *)(event + 2);
	event[XS_WATCH_TOKEN] = (char *)(event + 2);
	strcpy(event[XS_WATCH_PATH], events[at_event++]);
	return event;
}

static int find(const char *path)
{
	unsigned int i;

	for (i = 0; i < nr_keys; i++)
		if (!strcmp(keys[i].path, path))
			return i;
	return -1;
}

void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned int *length)
{
	unsigned int id;
	int i = find(path);

	(void)h, (void)t, (void)length;
	reads++;
	if (broken && sscanf(path, "/libxl/%u/", &id) == 1 && id == broken &&
	    (!broken_key || strstr(path, broken_key))) {
		errno = EIO;
		return NULL;
	}
	if (i < 0) {
		errno = ENOENT;
		return NULL;
	}
	return strdup(keys[i].value);
}

char **xs_directory(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned int *nr)
{
	unsigned int i, id, last = 0;
	char **names, *text;

	(void)h, (void)t;
	reads++;
	if (list_is_broken && !strcmp(path, "/libxl")) {
		errno = EIO;
		return NULL;
	}
	names = malloc(KEYS_MAX * (sizeof(*names) + 8));
	text = (char *)(names + KEYS_MAX);
	*nr = 0;
	for (i = 0; i < nr_keys; i++)
		if (sscanf(keys[i].path, "/libxl/%u/", &id) == 1 && id != last) {
			names[(*nr)++] = text;
			text += sprintf(text, "%u", id) + 1;
			last = id;
		}
	return names;
}

bool xs_write(struct xs_handle *h, xs_transaction_t t, const char *path, const void *value, unsigned int length)
{
	void (*others)(void) = meanwhile;
	int at = 0;

	(void)h, (void)t, (void)length;
	sscanf(path, "/libxl/%u/%n", &written[nr_written].id, &at);
	assert_true(at);
	strcpy(written[nr_written].key, path + at);
	strcpy(written[nr_written++].value, value);
	meanwhile = NULL;
	if (others)
		others();
	return true;
}

xs_transaction_t xs_transaction_start(struct xs_handle *h)
{
	(void)h;
	begun_at = changes;
	nr_written = 0;
	return 1;
}

bool xs_transaction_end(struct xs_handle *h, xs_transaction_t t, bool abort)
{
	bool late = !abort && changes != begun_at;
	unsigned int i;

	(void)h, (void)t;
	for (i = 0; !abort && !late && i < nr_written; i++)
		change(written[i].id, written[i].key, written[i].value);
	if (late)
		errno = EAGAIN;
	return !late;
}

/* A domain's keys lie together, as xs_directory() takes them. */
void change(unsigned int id, const char *key, const char *value)
{
	char path[64];
	int i;

	changes++;
	snprintf(path, sizeof(path), "/libxl/%u/%s", id, key);
	i = find(path);
	if (i < 0) {
		i = nr_keys;
		while (i > 0 && strtoul(keys[i - 1].path + 7, NULL, 10) > id)
			i--;
		memmove(&keys[i + 1], &keys[i], (nr_keys++ - i) * sizeof(*keys));
		strcpy(keys[i].path, path);
	}
	if (value)
		strcpy(keys[i].value, value);
	else
		memmove(&keys[i], &keys[i + 1], (--nr_keys - i) * sizeof(*keys));
	strcpy(events[nr_events++], path);
}

void set_name(unsigned int id, const char *name)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/local/domain/%u/name", id);
	i = find(path);
	if (i < 0)
		strcpy(keys[i = nr_keys++].path, path);
	/* Nobody has a watch there: guests write below it all the time. */
	strcpy(keys[i].value, name);
}

void forget(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < nr_keys;)
		if (strtoul(keys[i].path + 7, NULL, 10) == id)
			memmove(&keys[i], &keys[i + 1], (--nr_keys - i) * sizeof(*keys));
		else
			i++;
}

const char *value_of(const char *path)
{
	int i = find(path);

	return i < 0 ? NULL : keys[i].value;
}
