// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * region ID COMMAND…
 * Runs a command between two markers of region ID, for the emulator plugin, and ends with its status.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker.h"

int main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long id = argc > 2 ? strtoul(argv[1], &end, 10) : 0;
	marker_fn begin, finish;
	int status;
	pid_t child;

	if (argc < 3 || !*argv[1] || *end || id > MARKER_LAST_ID) {
		fprintf(stderr, "region: usage: region ID COMMAND…, ID from 0 to %u\n", MARKER_LAST_ID);
		return 2;
	}
	begin = new_marker(id, 0);
	finish = new_marker(id, 1);

	begin();
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	finish();
	if (child < 0) {
		perror("region: fork");
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
