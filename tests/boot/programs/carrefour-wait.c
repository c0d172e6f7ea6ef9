// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * carrefour-wait SECONDS NAME CONDITION…: asks carrefourd until what it says of domain NAME, or of itself if NAME is -, meets all
 * conditions at once, and prints what it said then.  After SECONDS it prints what it said last, and ends with 1.
 *
 *	samples>=64		also with =, > and <; members of members: totals.moves>0
 *	state=following		the same of words
 *	advice			it is there, and neither null nor false nor 0
 *	absent			nothing is said of NAME
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <yajl/yajl_tree.h>

#define POLL_US 300000	/* it has nothing new to say more than once in its period */
#define DEPTH 4

static char said[1 << 20];

/* What it says; false: it does not answer. */
static bool ask(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/carrefourd/socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	size_t length = 0;
	ssize_t n = -1;

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) && send(fd, "show\n", 5, MSG_NOSIGNAL) == 5)
		while ((n = read(fd, said + length, sizeof(said) - 1 - length)) > 0)
			length += n;
	if (fd >= 0)
		close(fd);
	said[n ? 0 : length] = 0;
	return !n;
}

static yajl_val domain(yajl_val document, const char *name)
{
	yajl_val domains = yajl_tree_get(document, (const char *[]){ "domains", NULL }, yajl_t_array);

	for (size_t i = 0; domains && i < YAJL_GET_ARRAY(domains)->len; i++) {
		yajl_val one = YAJL_GET_ARRAY(domains)->values[i];
		const char *its = YAJL_GET_STRING(yajl_tree_get(one, (const char *[]){ "name", NULL }, yajl_t_string));

		if (its && !strcmp(its, name))
			return one;
	}
	return NULL;
}

static bool meets(yajl_val object, const char *condition)
{
	char text[256], *op, *value, *at = text;
	const char *path[DEPTH + 1] = { NULL }, *word;
	yajl_val member;
	bool or_equal;
	double number;

	if (!strcmp(condition, "absent"))
		return !object;
	snprintf(text, sizeof(text), "%s", condition);
	op = strpbrk(text, "<>=");
	or_equal = op && op[0] != '=' && op[1] == '=';
	value = op ? op + 1 + or_equal : NULL;
	condition = op ? condition + (op - text) : "";
	if (op)
		*op = 0;
	for (int i = 0; i < DEPTH && at; i++)
		path[i] = strsep(&at, ".");
	member = object ? yajl_tree_get(object, path, yajl_t_any) : NULL;
	if (!member || YAJL_IS_NULL(member) || YAJL_IS_FALSE(member))
		return false;
	word = YAJL_GET_STRING(member);
	if (word)
		return op ? *condition == '=' && !strcmp(word, value) : *word;
	if (!YAJL_IS_NUMBER(member))
		return !op;
	number = strtod(YAJL_GET_NUMBER(member), NULL);
	if (!op)
		return number != 0;
	if (or_equal || *condition == '=')
		if (number == strtod(value, NULL))
			return true;
	return *condition == '>' ? number > strtod(value, NULL) : *condition == '<' && number < strtod(value, NULL);
}

static bool all_met(const char *name, char **conditions)
{
	yajl_val document = yajl_tree_parse(said, NULL, 0);
	yajl_val object = document && strcmp(name, "-") ? domain(document, name) : document;
	bool met = document;

	while (*conditions)
		met &= meets(object, *conditions++);
	yajl_tree_free(document);
	return met;
}

int main(int argc, char **argv)
{
	struct timespec start, now;

	if (argc < 4) {
		fprintf(stderr, "usage: carrefour-wait SECONDS NAME CONDITION…\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		if (ask() && all_met(argv[2], argv + 3)) {
			printf("%s", said);
			return 0;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > atof(argv[1])) {
			printf("%s", said);
			return 1;
		}
		usleep(POLL_US);
	}
}
