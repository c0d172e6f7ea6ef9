// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * carrefour-ask REQUEST: asks carrefourd and prints its document.
 * carrefour-ask "record DOMID|all" FILE SECONDS: hands it the file to write a trace to, for so long, then the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int say(int to, const char *text, int file)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)text, strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &file, sizeof(file));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL) < 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/carrefourd/socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), file = -1;
	char text[4096];
	ssize_t n;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: see carrefour-ask.c\n");
		return 2;
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fail("connect");
	if (argc == 4) {
		file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (file < 0)
			return fail(argv[2]);
	}
	snprintf(text, sizeof(text), "%s\n", argv[1]);
	if (say(fd, text, file))
		return fail("send");
	if (argc == 4) {
		sleep(atoi(argv[3]));
		shutdown(fd, SHUT_WR);
	}
	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, n, stdout);
	return n ? fail("receive") : 0;
}
