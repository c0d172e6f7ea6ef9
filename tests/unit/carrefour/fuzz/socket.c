/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes, in any pieces, with files or without: a document or the end of the connection, and nothing is left open. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/record.h"
#include "control/requests.h"
#include "fuzz.h"

const char *const fuzz_words[] = {
	"show\n", "explain 3\n", "explain 65535\n", "record all\n", "record 3\n", "record 7\n", "\n", " ", "record", "explain -1\n", NULL
};

static struct daemon d;
static uint64_t now;

static int nr_fds(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 64; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void begin(void)
{
	const struct switches on[] = { { .id = 3, .carrefour = true, .name = "a\"\\\xff" }, { .id = 4, .mode = AUTO_ON } };
	char error[256];

	d = (struct daemon){ .config = config_defaults(), .host.nr_nodes = 2 };
	HOLDS(guests_sync(&d, on, 2));
	HOLDS(server_open("fuzzed", requests_begin(&d), error, sizeof(error)));
}

static void serve(unsigned int times)
{
	struct pollfd fds[SERVER_POLL];
	unsigned int nr;

	while (times--) {
		nr = server_poll(fds);
		poll(fds, nr, 0);
		now += 1000 * MS;
		server_serve(fds, nr, now);
	}
}

static int connect_client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "fuzzed" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	HOLDS(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

/* With a file, if there is one. */
static void say(int fd, const uint8_t *data, size_t size, int file)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec part = { (void *)data, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), &file, sizeof(int));
	}
	(void)!sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void hear(int fd)
{
	static char text[65536];
	ssize_t n, length = 0;

	while ((n = recv(fd, text + length, sizeof(text) - 1 - length, MSG_DONTWAIT)) > 0)
		length += n;
	text[length] = '\0';
	if (length)
		HOLDS(!strncmp(text, "{\"version\": 1, ", 15) && !strcmp(text + length - 2, "}\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd, file, before;

	if (!now)
		begin();
	before = nr_fds();
	file = open("recorded", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fd = connect_client();
	/* The first byte of a piece is its length, and whether a file goes with it. */
	while (size > 1) {
		size_t n = 1 + (data[0] & 63);

		if (n > size - 1)
			n = size - 1;
		say(fd, data + 1, n, data[0] & 64 ? file : data[0] & 128 ? STDIN_FILENO : -1);
		serve(2);
		data += 1 + n;
		size -= 1 + n;
	}
	shutdown(fd, SHUT_WR);
	serve(12);
	hear(fd);
	close(fd);
	close(file);
	serve(2);
	HOLDS(nr_fds() == before && !record_any());
	return 0;
}
