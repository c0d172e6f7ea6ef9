/* SPDX-License-Identifier: GPL-2.0-only */
/* carrefourd's socket: a line there, a document of JSON back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <yajl/yajl_tree.h>

#include "ask/carrefour.h"
#include "base/errors.h"

#define SOCKET "/run/carrefourd/socket"
#define ANSWER_MAX (64 << 20)	/* bytes; a thousand domains take one of them */
#define ANSWER_SECONDS 5	/* what takes it longer is stopped or stuck */
#define SILENT "carrefourd runs, but has not answered for %d seconds"
#define STRANGE "carrefourd's answer makes no sense; is it of another version?"

/* An answer is yajl's tree, under a name of our own. */
static yajl_val tree_of(const struct answer *answer)
{
	return (yajl_val)answer;
}

static yajl_val field(const struct answer *answer, const char *name)
{
	const char *path[] = { name, NULL };

	return answer ? yajl_tree_get(tree_of(answer), path, yajl_t_any) : NULL;
}

struct answer *answer_parse(const char *text)
{
	return (struct answer *)yajl_tree_parse(text, NULL, 0);
}

void answer_free(struct answer *answer)
{
	yajl_tree_free(tree_of(answer));
}

const char *answer_text(const struct answer *answer, const char *name)
{
	yajl_val value = field(answer, name);

	if (YAJL_IS_NUMBER(value))
		return YAJL_GET_NUMBER(value);
	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

uint64_t answer_number(const struct answer *answer, const char *name)
{
	yajl_val value = field(answer, name);

	if (YAJL_IS_TRUE(value))
		return 1;
	return YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) > 0 ? YAJL_GET_INTEGER(value) : 0;
}

/* In percent with one decimal place, there; in permille, here. */
static uint64_t permille(const struct answer *answer, const char *name)
{
	yajl_val value = field(answer, name);

	return YAJL_IS_NUMBER(value) ? strtod(YAJL_GET_NUMBER(value), NULL) * 10 + 0.5 : 0;
}

const struct answer *answer_part(const struct answer *answer, const char *name)
{
	return (const struct answer *)field(answer, name);
}

void answer_nodes(const struct answer *answer, const char *name, uint32_t weight[NODES_MAX])
{
	yajl_val list = field(answer, name);
	size_t i;

	memset(weight, 0, NODES_MAX * sizeof(*weight));
	for (i = 0; YAJL_IS_ARRAY(list) && i < list->u.array.len; i++)
		if (YAJL_IS_INTEGER(list->u.array.values[i]) && YAJL_GET_INTEGER(list->u.array.values[i]) >= 0 &&
		    YAJL_GET_INTEGER(list->u.array.values[i]) < NODES_MAX)
			weight[YAJL_GET_INTEGER(list->u.array.values[i])] = 1;
}

void answer_each(const struct answer *answer, const char *name, void (*fn)(const struct answer *item, void *arg), void *arg)
{
	yajl_val list = field(answer, name);
	size_t i;

	for (i = 0; YAJL_IS_ARRAY(list) && i < list->u.array.len; i++)
		fn((const struct answer *)list->u.array.values[i], arg);
}

/* Later than that, what waits for the daemon fails with EAGAIN. */
static void limit_time(int fd, int option)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };

	setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit));
}

static int connect_to_daemon(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return fd;
	/* To connect counts as sending: it waits while many others do. */
	limit_time(fd, SO_SNDTIMEO);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		error = errno;
		close(fd);
		errno = error;
		fd = -1;
	}
	return fd;
}

static bool send_request(int fd, const char *request, int file)
{
	struct iovec part[] = { { (void *)request, strlen(request) }, { "\n", 1 } };
	struct msghdr message = { .msg_iov = part, .msg_iovlen = 2 };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };

	if (file >= 0) {
		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &file, sizeof(int));
	}
	/* One line is never more than a socket takes at once. */
	return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)strlen(request) + 1;
}

/* All until the daemon ends the connection, malloc()ed; NULL: errno. */
static char *receive(int fd)
{
	size_t size = 0, room = 0;
	char *text = NULL;
	ssize_t got;

	do {
		if (room - size < 4096)
			text = check_alloc(realloc(text, room = 2 * room + 8192));
		got = read(fd, text + size, room - size - 1);
		if (got > 0)
			size += got;
	} while ((got > 0 && size < ANSWER_MAX) || (got < 0 && errno == EINTR));
	text[size] = '\0';
	if (got || !size) {
		if (!got)
			errno = ECONNRESET;
		free(text);
		return NULL;
	}
	return text;
}

/* NULL: errno. */
static char *ask(const char *request, int file, void (*wait)(int fd))
{
	int fd = connect_to_daemon(), error;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (send_request(fd, request, file)) {
		if (wait)
			wait(fd);
		limit_time(fd, SO_RCVTIMEO);
		shutdown(fd, SHUT_WR);
		text = receive(fd);
	}
	error = errno;
	close(fd);
	errno = error;
	return text;
}

/* By errno: nobody listens. */
static bool is_absent(void)
{
	return errno == ENOENT || errno == ECONNREFUSED;
}

char *carrefour_ask(const char *request, int file, void (*wait)(int fd))
{
	char *text = ask(request, file, wait);
	struct answer *answer;

	if (!text && is_absent())
		die("carrefourd does not run; 'systemctl start carrefourd' starts it");
	if (!text && errno == EACCES)
		die("no permission to ask carrefourd; run this as root");
	if (!text && errno == EAGAIN)
		die(SILENT "; 'journalctl -u carrefourd' may say why", ANSWER_SECONDS);
	if (!text)
		die("carrefourd did not answer: %s", strerror(errno));
	answer = answer_parse(text);
	if (!answer)
		die(STRANGE);
	if (*answer_text(answer, "error")) {
		free(text);
		die("%s", answer_text(answer, "error"));
	}
	answer_free(answer);
	return text;
}

static void copy_word(char to[WORD_TEXT], const char *from)
{
	snprintf(to, WORD_TEXT, "%s", from);
}

static void add(const struct answer *item, void *arg)
{
	const struct answer *totals = answer_part(item, "totals"), *advice = answer_part(item, "advice");
	struct watching *w = arg;
	struct watched *d;

	w->watched = check_alloc(realloc(w->watched, (w->nr + 1) * sizeof(*w->watched)));
	d = &w->watched[w->nr++];
	*d = (struct watched){
		.id = answer_number(item, "id"), .carrefour = answer_number(item, "carrefour"),
		.samples = answer_number(item, "samples"), .local = permille(item, "local_percent"),
		.imbalance = permille(item, "imbalance_percent"), .pair = permille(item, "busiest_pair_percent"),
		.moves = answer_number(item, "moves"),
		.all_moves = answer_number(totals, "moves"), .all_bytes = answer_number(totals, "moved_bytes"),
		.all_dropped = answer_number(totals, "samples_dropped"),
	};
	copy_word(d->automatic, answer_text(item, "auto"));
	copy_word(d->sampling, answer_text(item, "sampling"));
	copy_word(d->state, answer_text(item, "state"));
	copy_word(d->class, answer_text(advice, "class"));
}

/* By errno, if there is no text. Once is enough, for who asks again and again. */
static void say_mute(const char *text, const struct answer *answer)
{
	static bool said;

	if (said)
		return;
	said = true;
	if (!text && errno == EAGAIN)
		say(SILENT "; going on without it", ANSWER_SECONDS);
	else if (!text)
		say("carrefourd did not answer: %s; going on without it", strerror(errno));
	else if (!answer)
		say(STRANGE " Going on without it");
	else
		say("carrefourd says: %s; going on without it", answer_text(answer, "error"));
}

bool carrefour_show(struct watching *watching)
{
	char *text = ask("show", -1, NULL);
	bool absent = !text && is_absent();
	struct answer *answer = text ? answer_parse(text) : NULL;
	bool ok = answer && !*answer_text(answer, "error");

	*watching = (struct watching){ .mute = !ok && !absent };
	if (watching->mute)
		say_mute(text, answer);
	if (ok) {
		watching->period = answer_number(answer, "period");
		watching->period_ms = answer_number(answer, "period_ms");
		answer_each(answer, "domains", add, watching);
	}
	answer_free(answer);
	free(text);
	return ok;
}

const struct watched *carrefour_find(const struct watching *watching, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < watching->nr; i++)
		if (watching->watched[i].id == id)
			return &watching->watched[i];
	return NULL;
}
