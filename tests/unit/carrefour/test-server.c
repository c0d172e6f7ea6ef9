/* SPDX-License-Identifier: GPL-2.0-only */
/* The socket: clients that are quick, slow, many, rude or gone; and a file that is passed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chance.h"
#include "control/requests.h"
#include "control/view.h"

static char directory[] = "carrefour-socket-XXXXXX", path[64];
static uint64_t now;
static struct daemon state;
static char error[512];

static int nr_fds(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* What the loop of the daemon does, some times, @ns in all. */
static void run(uint64_t ns)
{
	struct pollfd fds[SERVER_POLL];
	unsigned int i, nr;

	for (i = 0; i < 20; i++) {
		nr = server_poll(fds);
		poll(fds, nr, 0);
		now += ns / 20;
		server_serve(fds, nr, now);
	}
}

static int connect_client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* With a number of descriptors of @file. */
static void say(int fd, const char *text, int file, unsigned int nr)
{
	union {
		char bytes[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)text, strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int all[4] = { file, file, file, file };

	if (nr) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), all, nr * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &message, MSG_NOSIGNAL), strlen(text));
}

/* All that comes until the end; "" if nothing but the end; NULL: it has not ended. */
static const char *hear(int fd)
{
	static char text[1 << 16];
	size_t length = 0;
	ssize_t n;

	while ((n = recv(fd, text + length, sizeof(text) - 1 - length, MSG_DONTWAIT)) > 0) {
		length += n;
		run(0);
	}
	text[length] = '\0';
	return n ? NULL : text;
}

static const char *ask(const char *line)
{
	int fd = connect_client();
	const char *answer;

	say(fd, line, -1, 0);
	run(0);
	answer = hear(fd);
	assert_non_null(answer);
	close(fd);
	return answer;
}

static int begin(void **unused)
{
	(void)unused;
	if (!*path)
		assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/socket", directory);
	state = (struct daemon){ .config = config_defaults(), .host.nr_nodes = 2 };
	assert_true(server_open(path, requests_begin(&state), error, sizeof(error)));
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	server_close();
	return 0;
}

static void a_line_is_answered_by_a_document(void **unused)
{
	int fds = nr_fds(), fd, i;
	struct stat st;

	(void)unused;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_string_equal(ask("show\n"),
			    "{\"version\": 1, \"nodes\": 2, \"period\": 0, \"period_ms\": 1000, \"memory_mb\": 256, "
			    "\"memory_bytes\": 0, \"domains\": []}\n");
	assert_non_null(strstr(ask("explain 5\n"), "\"error\": \"carrefourd does not watch VM 5, as Carrefour and auto are off "
				    "for it; 'xl numa-policy set 5 +auto=advise' has it watched, "));
	assert_non_null(strstr(ask("explain -5\n"), "\"error\": \"'-5' is no domain id\""));
	assert_non_null(strstr(ask("explain 65536\n"), "\"error\": \"'65536' is no domain id\""));
	assert_non_null(strstr(ask("explain\n"), "\"error\": \"'explain' is no request;"));
	assert_non_null(strstr(ask("record all\n"), "\"error\": \"no file was passed to write to\""));
	assert_non_null(strstr(ask("\n"), "\"error\": \"'' is no request;"));
	assert_non_null(strstr(ask("sh\"\\ow\x01\xff\n"), "\"error\": \"'sh\\\"\\\\ow\\u0001\\ufffd' is no request;"));
	/* By pieces; and what comes after the line is not listened to. */
	fd = connect_client();
	for (i = 0; i < 4; i++) {
		say(fd, (char [2]){ "show"[i], 0 }, -1, 0);
		run(0);
		assert_null(hear(fd));
	}
	say(fd, "\nexplain 3\n", -1, 0);
	run(0);
	assert_non_null(strstr(hear(fd), "domains"));
	close(fd);
	assert_int_equal(nr_fds(), fds);
}

static void a_line_without_end_is_answered_too(void **unused)
{
	char line[REQUEST_MAX + 100];

	(void)unused;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	assert_non_null(strstr(ask(line), "is no request"));
}

static void who_stands_still_is_left(void **unused)
{
	int fds = nr_fds(), fd[CLIENTS_MAX + 2], i;

	(void)unused;
	for (i = 0; i < CLIENTS_MAX + 2; i++) {
		fd[i] = connect_client();
		run(0);
	}
	assert_int_equal(nr_fds(), fds + CLIENTS_MAX + 2 + CLIENTS_MAX);
	/* All places are taken; who came later waits, and has its turn when the others are left. */
	say(fd[CLIENTS_MAX], "show\n", -1, 0);
	run(CLIENT_NS / 2);
	assert_null(hear(fd[CLIENTS_MAX]));
	run(CLIENT_NS);
	run(0);
	for (i = 0; i < CLIENTS_MAX; i++)
		assert_string_equal(hear(fd[i]), "");
	assert_non_null(strstr(hear(fd[CLIENTS_MAX]), "domains"));
	for (i = 0; i < CLIENTS_MAX + 2; i++)
		close(fd[i]);
	run(0);
	assert_int_equal(nr_fds(), fds);
}

static void who_does_not_listen_is_left(void **unused)
{
	static struct guest *guests[1000];
	int fds, fd, i;

	(void)unused;
	/* More than a socket takes. */
	state.guest = guests;
	state.nr = 1000;
	for (i = 0; i < 1000; i++)
		guests[i] = guest_new(&(struct switches){ .id = i, .name = "g" });
	fds = nr_fds();
	fd = connect_client();
	say(fd, "show\n", -1, 0);
	run(0);
	assert_int_equal(nr_fds(), fds + 2);
	/* Others are served meanwhile. */
	assert_non_null(strstr(ask("explain 7\n"), "\"id\": 7"));
	run(2 * CLIENT_NS);
	assert_int_equal(nr_fds(), fds + 1);
	close(fd);
	/* And one that listens gets all of it. */
	fd = connect_client();
	say(fd, "show\n", -1, 0);
	run(0);
	{
		char text[1 << 16];
		size_t length = 0;
		ssize_t n;

		while ((n = recv(fd, text, sizeof(text), MSG_DONTWAIT)) > 0) {
			length += n;
			run(0);
		}
		assert_int_equal(n, 0);
		assert_true(length > 500000);
	}
	close(fd);
	for (i = 0; i < 1000; i++)
		guest_free(guests[i]);
	state.guest = NULL;
	state.nr = 0;
}

static void who_goes_away_harms_nobody(void **unused)
{
	int fds = nr_fds(), fd, i;

	(void)unused;
	for (i = 0; i < 200; i++) {
		fd = connect_client();
		if (i % 4)
			say(fd, i % 4 == 1 ? "sho" : "show\n", -1, 0);
		if (i % 3)
			run(0);
		close(fd);
		run(0);
	}
	assert_int_equal(nr_fds(), fds);
	assert_non_null(strstr(ask("show\n"), "domains"));
}

static int trace_file(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%s/trace", directory);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	unlink(name);
	return fd;
}

static size_t file_size(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void a_recording_lasts_as_long_as_its_client_wants(void **unused)
{
	int fds = nr_fds(), file = trace_file(), fd = connect_client();
	char text[64] = { 0 };

	(void)unused;
	say(fd, "record all\n", file, 1);
	run(0);
	/* However long. */
	run(10 * CLIENT_NS);
	assert_null(hear(fd));
	shutdown(fd, SHUT_WR);
	run(0);
	assert_string_equal(hear(fd), "{\"version\": 1, \"periods\": 0, \"samples\": 0, \"reconfigured\": false}\n");
	assert_int_equal(pread(file, text, sizeof(text) - 1, 0), file_size(file));
	assert_string_equal(text, "carrefour-trace 1\nnodes 2\nend\n");
	close(fd);
	/* Who is gone has a whole trace, too. */
	fd = connect_client();
	assert_int_equal(ftruncate(file, 0), 0);
	lseek(file, 0, SEEK_SET);
	say(fd, "record all\n", file, 1);
	run(0);
	close(fd);
	run(0);
	assert_int_equal(file_size(file), 30);
	close(file);
	assert_int_equal(nr_fds(), fds);
}

static void files_that_are_not_asked_for_are_closed(void **unused)
{
	int fds = nr_fds(), file = trace_file(), fd;
	unsigned int nr;

	(void)unused;
	for (nr = 1; nr <= 4; nr++) {
		fd = connect_client();
		say(fd, "show\n", file, nr);
		run(0);
		assert_non_null(strstr(hear(fd), "domains"));
		close(fd);
		fd = connect_client();
		say(fd, "rec", file, nr);
		run(0);
		say(fd, "ord x\n", file, nr);
		run(0);
		assert_non_null(strstr(hear(fd), "'x' is no domain id; record takes one, or all"));
		close(fd);
		fd = connect_client();
		say(fd, "rec", file, nr);
		run(0);
		close(fd);
		run(0);
	}
	close(file);
	assert_int_equal(nr_fds(), fds);
}

static void one_daemon_at_a_time(void **unused)
{
	(void)unused;
	/* The lock is the process's own, so another one has to try. */
	if (!fork())
		_exit(server_open(path, requests_begin(&state), error, sizeof(error)) ? 1 :
		      strstr(error, "another carrefourd is running") ? 0 : 2);
	{
		int status;

		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_non_null(strstr(ask("show\n"), "domains"));
	/* What a killed one has left is no obstacle. */
	server_close();
	assert_int_equal(access(path, F_OK), 0);
	assert_true(server_open(path, requests_begin(&state), error, sizeof(error)));
	assert_non_null(strstr(ask("show\n"), "domains"));
}

static void the_end_of_the_daemon_ends_recordings(void **unused)
{
	int file = trace_file(), fd = connect_client();

	(void)unused;
	say(fd, "record all\n", file, 1);
	run(0);
	server_close();
	assert_non_null(strstr(hear(fd), "\"periods\": 0"));
	assert_int_equal(file_size(file), 30);
	close(fd);
	close(file);
	assert_true(server_open(path, requests_begin(&state), error, sizeof(error)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_is_answered_by_a_document),
		TEST(a_line_without_end_is_answered_too),
		TEST(who_stands_still_is_left),
		TEST(who_does_not_listen_is_left),
		TEST(who_goes_away_harms_nobody),
		TEST(a_recording_lasts_as_long_as_its_client_wants),
		TEST(files_that_are_not_asked_for_are_closed),
		TEST(one_daemon_at_a_time),
		TEST(the_end_of_the_daemon_ends_recordings),
	};
	int failed;

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	failed = cmocka_run_group_tests_name("server", tests, NULL, NULL);
	unlink(path);
	strcat(path, ".lock");
	unlink(path);
	rmdir(directory);
	return failed;
}
