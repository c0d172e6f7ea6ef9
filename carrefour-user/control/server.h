/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The socket that root asks by: a line is a request, a JSON document is the answer, and that was it. Never
 * waits for a client: one that is slow is served slowly, one that stands still is left after some seconds.
 */
#ifndef SERVER_H
#define SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REQUEST_MAX 128		/* characters, with the newline */
#define CLIENTS_MAX 16
#define SERVER_POLL (CLIENTS_MAX + 1)
#define CLIENT_NS (5000 * 1000000ULL)

/* Who answers. */
struct service {
	/*
	 * Writes the answer to @to. @fd is a file that the client has passed, or -1; it is taken. If something is
	 * returned, there is no answer yet: it comes when the client says that it has heard enough, or is_over().
	 */
	void *(*request)(FILE *to, const char *line, int fd);
	bool (*is_over)(void *pending);
	void (*end)(void *pending, FILE *to);	/* NULL: there is no memory to say anything */
};

/* Takes the place of a socket that nobody serves. False: one line in @error. Root's only, while it is root who calls. */
bool server_open(const char *path, const struct service *service, char *error, size_t size);
/* Who is in between gets its answer, if it can be written at once. */
void server_close(void);

/* Fills poll[SERVER_POLL] and says how many. */
unsigned int server_poll(struct pollfd *poll);
/* After poll(2), also if it found nothing. @now: any clock in ns. */
void server_serve(const struct pollfd *poll, unsigned int nr, uint64_t now);

#endif
