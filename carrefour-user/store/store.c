/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection to xenstore, and what is read there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <xenstore.h>

#include "common/text.h"
#include "process/log.h"
#include "process/privileges.h"
#include "store/cache.h"
#include "store/private.h"
#include "store/store.h"

#define READS_MAX 256	/* domains that are asked of in a period, with some requests each */
#define NAMES 8		/* that are read again in a period */

struct xs_handle *store_xs;
static bool watching;
static bool by_socket;	/* ever */
static int said = -1;	/* the errno that was said last of a connection that is not there */

/* Whether somebody listens; where xenstored is a domain of its own, nobody ever does. */
static bool has_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
	bool there;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", xs_daemon_socket());
	there = !connect(fd, (struct sockaddr *)&address, sizeof(address));
	error = errno;
	close(fd);
	errno = error;
	return there;
}

/*
 * While nobody listens, libxenstore would take the kernel's connection instead, and wait there for the answer of a
 * xenstored that is not there.
 */
static struct xs_handle *connect_to_store(void)
{
	struct xs_handle *new = NULL;
	bool there;

	/* Its socket is root's. */
	privileges_raise();
	there = has_socket();
	if (there || !by_socket)
		new = xs_open(0);
	privileges_lower();
	by_socket |= there;
	return new;
}

/* Not before rights are dropped: it begins a thread, which keeps those that it begins with. */
static bool watch(void)
{
	watching = xs_watch(store_xs, "/libxl", "libxl") && xs_watch(store_xs, "@introduceDomain", "domains") &&
		   xs_watch(store_xs, "@releaseDomain", "domains");
	return watching;
}

bool store_open(void)
{
	store_xs = connect_to_store();
	return store_xs != NULL;
}

void store_close(void)
{
	xs_close(store_xs);
	store_xs = NULL;
	watching = false;
}

static bool is_alive(void)
{
	unsigned int nr;
	char **names = xs_directory(store_xs, XBT_NULL, "/", &nr);

	free(names);
	return names && (watching || watch());
}

bool store_name(unsigned int domid, char to[NAME_SIZE])
{
	char path[64], *name;
	bool found;

	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	name = store_xs ? xs_read(store_xs, XBT_NULL, path, NULL) : NULL;
	found = name && *name;
	if (found)
		snprintf(to, NAME_SIZE, "%s", name);
	else
		snprintf(to, NAME_SIZE, "%u", domid);
	free(name);
	text_clean(to);
	return found;
}

/*
 * Some at a time. A name changes while nothing of /libxl does: when a migration is over, and by `xl rename`. A watch would tell
 * of all that guests write beside it.
 */
static void look_at_names(void)
{
	static unsigned int last;
	const struct switches *w = NULL;
	char name[NAME_SIZE];
	unsigned int i;

	for (i = 0; i < NAMES && (w = cache_after(last)); i++) {
		last = w->id;
		if (store_name(last, name) && strcmp(name, w->name))
			cache_mark(last);
	}
	if (!w)
		last = 0;
}

bool store_check(void)
{
	if (store_xs && is_alive()) {
		look_at_names();
		return true;
	}
	if (store_xs) {
		log_line(LEVEL_WARNING, "the connection to xenstore is lost; it is opened again, and domains stay as they were");
		store_close();
	}
	store_xs = connect_to_store();
	if (store_xs && is_alive()) {
		log_line(LEVEL_INFO, "xenstore is connected again");
		said = -1;
		cache_doubt();
		return true;
	}
	if (errno != said)
		log_line(LEVEL_WARNING, "cannot connect to xenstore: %s; tried again each period", strerror(errno));
	said = errno;
	store_close();
	return false;
}

int store_fd(void)
{
	return store_xs && watching ? xs_fileno(store_xs) : -1;
}

/* Of what happens below /libxl most is about devices. */
static void note_event(const char *path)
{
	const char *rest;
	unsigned long id;
	char *end;

	id = strncmp(path, "/libxl/", 7) ? DOMID_LIMIT : strtoul(path + 7, &end, 10);
	if (id >= DOMID_LIMIT) {
		cache_list();
		return;
	}
	rest = strchr(path + 7, '/');
	if (!rest)
		cache_list();
	if (!rest || !strncmp(rest, "/numa-policy", 12))
		cache_mark(id);
}

void store_read(void)
{
	char **event;

	while (store_xs && (event = xs_check_watch(store_xs))) {
		note_event(event[XS_WATCH_PATH]);
		free(event);
	}
}

/* Of /libxl/DOMID/numa-policy; malloc()ed, NULL: not there, or *broken: no answer. */
static char *read_key(unsigned int domid, const char *key, bool *broken)
{
	char path[64], *value;

	snprintf(path, sizeof(path), "/libxl/%u/numa-policy/%s", domid, key);
	value = xs_read(store_xs, XBT_NULL, path, NULL);
	*broken |= !value && errno != ENOENT;
	return value;
}

bool store_is(const char *value, const char *what)
{
	return value && !strcmp(value, what);
}

static enum auto_class class_of(const char *value)
{
	unsigned int class;

	for (class = 0; class < NR_CLASSES; class++)
		if (store_is(value, class_name(class)))
			return class;
	return CLASS_UNKNOWN;
}

/* False: nothing is on. */
static bool read_switches(unsigned int domid, struct switches *w, bool *broken)
{
	char *carrefour = read_key(domid, "carrefour", broken), *mode = read_key(domid, "auto", broken);
	char *class = read_key(domid, "auto-class", broken), *follows = read_key(domid, "auto-follows", broken);

	*w = (struct switches){
		.id = domid, .carrefour = store_is(carrefour, "1"), .class = class_of(class), .follows = store_is(follows, "1"),
		.mode = store_is(mode, "1") ? AUTO_ON : store_is(mode, "advise") ? AUTO_ADVISE : AUTO_OFF,
	};
	free(carrefour);
	free(mode);
	free(class);
	free(follows);
	if (!w->carrefour && w->mode == AUTO_OFF)
		return false;
	store_name(domid, w->name);
	return true;
}

bool store_keeps_off(unsigned int domid)
{
	bool broken = !store_xs, off;
	char *mode = store_xs ? read_key(domid, "auto", &broken) : NULL;

	off = broken || store_is(mode, "0");
	free(mode);
	return off;
}

/* Which domains there are. No domain at all is a good answer; no answer is none. */
static bool read_list(void)
{
	unsigned int names, i;
	char **name = xs_directory(store_xs, XBT_NULL, "/libxl", &names);

	if (!name && errno != ENOENT)
		return false;
	cache_begin_list();
	for (i = 0; name && i < names; i++) {
		char *end;
		unsigned long id = strtoul(name[i], &end, 10);

		if (end != name[i] && !*end && id && id < DOMID_LIMIT)
			cache_is_there(id);
	}
	cache_end_list();
	free(name);
	return true;
}

bool store_switches(struct switches **all, unsigned int *nr)
{
	static bool broken_said;
	unsigned int id = 0, reads = 0;
	bool broken_any = false;

	if (!store_xs || !cache_is_doubtful())
		return false;
	/* What changes from here on makes another event. */
	if (cache_wants_list() && !read_list())
		return false;
	while (reads++ < READS_MAX && cache_next(&id)) {
		struct switches now;
		bool broken = false, on = read_switches(id, &now, &broken);

		/* What was not told is not off: it stays as it was, and is asked for again. */
		if (!broken)
			cache_set(id, on ? &now : NULL);
		else if (!broken_any && !broken_said)
			log_line(LEVEL_WARNING, "domain %u: xenstore does not tell whether Carrefour is on: %s; it stays as it was, "
				 "and is asked for again each period", id, strerror(errno));
		broken_any |= broken;
	}
	broken_said = broken_any;
	return cache_copy(all, nr);
}

void store_again(void)
{
	cache_again();
}
