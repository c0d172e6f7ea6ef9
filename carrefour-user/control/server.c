/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of clients. Each is reading, pending or writing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/server.h"

struct client {
	int fd;			/* 0: free; nobody has 0 but standard input */
	uint64_t since;		/* it last did anything */
	char request[REQUEST_MAX];
	size_t length;
	int passed;		/* a file, or -1 */
	void *pending;
	char *answer;		/* NULL: there is none yet */
	size_t size, written;
};

static struct client clients[CLIENTS_MAX];
static const struct service *service;
static int listening = -1, lock = -1;

static bool fail(char *error, size_t size, const char *path, const char *what)
{
	snprintf(error, size, "%s: %s: %s", path, what, strerror(errno));
	return false;
}

/* The lock goes with the process, whatever ends it; the socket stays. */
static bool take_lock(const char *path, char *error, size_t size)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];

	snprintf(name, sizeof(name), "%s.lock", path);
	lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return fail(error, size, name, "cannot open it");
	if (!flock(lock, LOCK_EX | LOCK_NB))
		return true;
	if (errno == EWOULDBLOCK)
		snprintf(error, size, "%s: another carrefourd is running", path);
	else
		fail(error, size, name, "cannot lock it");
	return false;
}

/* What nobody serves any more is taken over; a file of another kind was not meant. */
static bool clear(const char *path, char *error, size_t size)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT || fail(error, size, path, "cannot be looked at");
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(error, size, "%s: is there, and is no socket; name another one, or remove it", path);
		return false;
	}
	return !unlink(path) || fail(error, size, path, "cannot be taken over");
}

bool server_open(const char *path, const struct service *s, char *error, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	bool bound;

	if (!*path) {
		snprintf(error, size, "'' is no path for a socket; give one");
		return false;
	}
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return fail(error, size, path, "cannot listen there");
	}
	strcpy(address.sun_path, path);
	if (!take_lock(path, error, size) || !clear(path, error, size))
		return false;
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listening < 0)
		return fail(error, size, path, "cannot make a socket");
	/* There is no moment at which it is anybody's. */
	mask = umask(0177);
	bound = !bind(listening, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (!bound || listen(listening, CLIENTS_MAX))
		return fail(error, size, path, "cannot listen there");
	service = s;
	return true;
}

static void drop(struct client *c)
{
	if (c->passed >= 0)
		close(c->passed);
	free(c->answer);
	close(c->fd);
	*c = (struct client){ 0 };
}

/* A client that has said more than a line would see an error instead of its answer. */
static void discard(struct client *c)
{
	char ignored[4096];
	unsigned int i = 0;

	while (i++ < 16 && recv(c->fd, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
}

static void write_answer(struct client *c)
{
	ssize_t n = send(c->fd, c->answer + c->written, c->size - c->written, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		c->written += n;
	if (c->written == c->size)
		discard(c);
	if (c->written == c->size || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(c);
}

/* What the service writes becomes the answer; without memory for it the client sees the end. */
static FILE *begin_answer(struct client *c)
{
	FILE *to = open_memstream(&c->answer, &c->size);

	if (!to)
		drop(c);
	return to;
}

static void end_answer(struct client *c, FILE *to)
{
	if (fclose(to) || !c->answer)
		drop(c);
	else
		write_answer(c);
}

static void end_pending(struct client *c)
{
	void *pending = c->pending;
	FILE *to;

	c->pending = NULL;
	to = begin_answer(c);
	service->end(pending, to);
	if (to)
		end_answer(c, to);
}

static void ask(struct client *c)
{
	FILE *to = begin_answer(c);
	int passed = c->passed;

	if (!to)
		return;
	c->passed = -1;
	c->pending = service->request(to, c->request, passed);
	if (!c->pending) {
		end_answer(c, to);
		return;
	}
	fclose(to);
	free(c->answer);
	c->answer = NULL;
	c->size = 0;
}

/* The first one counts; the others are not ours to keep. */
static void take_passed(struct client *c, struct msghdr *message)
{
	struct cmsghdr *control;
	size_t i;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < (control->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(control) + i * sizeof(fd), sizeof(fd));
			if (c->passed < 0)
				c->passed = fd;
			else
				close(fd);
		}
	}
}

static void read_request(struct client *c)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { c->request + c->length, REQUEST_MAX - 1 - c->length };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	take_passed(c, &message);
	end = memchr(c->request + c->length, '\n', n);
	c->length += n;
	if (end) {
		*end = '\0';
		ask(c);
	} else if (c->length == REQUEST_MAX - 1) {
		/* The service says what it does not understand. */
		c->request[c->length] = '\0';
		ask(c);
	}
}

/* It says nothing more, or is gone: both are the end. What it says besides is not listened to. */
static void listen_while_pending(struct client *c)
{
	char ignored[REQUEST_MAX];
	ssize_t n = recv(c->fd, ignored, sizeof(ignored), MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_pending(c);
}

/* A client that waits, and for whom there is no descriptor, would wake us up again and again. */
#define DEAF_NS 100000000ULL
static uint64_t deaf_until;
static bool deaf;

static void accept_client(uint64_t now)
{
	struct client *c = clients;
	int fd;

	while (c < clients + CLIENTS_MAX && c->fd)
		c++;
	if (c == clients + CLIENTS_MAX)
		return;
	fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		*c = (struct client){ .fd = fd, .since = now, .passed = -1 };
	else if (errno != EAGAIN)
		deaf_until = now + DEAF_NS;
}

unsigned int server_poll(struct pollfd *poll)
{
	unsigned int i, nr = 1;

	for (i = 0; i < CLIENTS_MAX; i++)
		if (clients[i].fd)
			poll[nr++] = (struct pollfd){ .fd = clients[i].fd, .events = clients[i].answer ? POLLOUT : POLLIN };
	/* Who comes while all places are taken, waits. */
	poll[0] = (struct pollfd){ .fd = nr <= CLIENTS_MAX && !deaf ? listening : -1, .events = POLLIN };
	return nr;
}

static void serve(struct client *c, bool ready, uint64_t now)
{
	if (ready) {
		c->since = now;
		if (c->answer)
			write_answer(c);
		else if (c->pending)
			listen_while_pending(c);
		else
			read_request(c);
	} else if (c->pending && service->is_over(c->pending)) {
		end_pending(c);
	} else if (!c->pending && now - c->since > CLIENT_NS) {
		drop(c);
	}
}

void server_serve(const struct pollfd *poll, unsigned int nr, uint64_t now)
{
	unsigned int i, c;

	for (c = 0; c < CLIENTS_MAX; c++) {
		bool ready = false;

		for (i = 1; i < nr; i++)
			ready |= poll[i].fd == clients[c].fd && poll[i].revents;
		if (clients[c].fd)
			serve(&clients[c], ready, now);
	}
	if (poll[0].revents)
		accept_client(now);
	deaf = now < deaf_until;
}

void server_close(void)
{
	unsigned int c;

	for (c = 0; c < CLIENTS_MAX; c++) {
		if (clients[c].pending)
			end_pending(&clients[c]);
		if (clients[c].fd)
			drop(&clients[c]);
	}
	if (listening >= 0)
		close(listening);
	if (lock >= 0)
		close(lock);
	listening = lock = -1;
}
