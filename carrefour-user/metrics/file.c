/* SPDX-License-Identifier: GPL-2.0-only */
/* The file: a reader finds the old one or the new one, never a part of one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics/metrics.h"

/*
 * By a name that nothing has: what others have put there, a link or the file of a daemon that was killed, is not in the way,
 * and stays. @path ends in XXXXXX, which becomes something else.
 */
static FILE *create(char *path)
{
	int fd = mkostemp(path, O_CLOEXEC), error;
	mode_t mask = umask(0);
	FILE *f;

	umask(mask);
	if (fd < 0)
		return NULL;
	/* Others read it. */
	f = fchmod(fd, 0644 & ~mask) ? NULL : fdopen(fd, "w");
	error = errno;
	if (!f) {
		close(fd);
		unlink(path);
	}
	errno = error;
	return f;
}

/* A device or a pipe would be gone for all others. */
static bool may_be_replaced(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT;
	if (S_ISREG(st.st_mode))
		return true;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	return false;
}

bool metrics_possible(const char *path, char *error, size_t size)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	struct stat st;

	if (!slash)
		return true;
	snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (stat(directory, &st) || !S_ISDIR(st.st_mode)) {
		snprintf(error, size, "metrics: there is no directory '%.300s'; make it, or name a file in another one", directory);
		return false;
	}
	if (may_be_replaced(path))
		return true;
	snprintf(error, size, "metrics: '%.300s' is there, and is no regular file; name another one", path);
	return false;
}

bool metrics_write(const char *path, const struct metrics_domain *domain, unsigned int nr, const struct daemon *daemon)
{
	char new[PATH_MAX];
	FILE *f;
	bool bad;
	int error;

	/* In the same directory, or it could not be renamed; the collector reads *.prom only. */
	if (snprintf(new, sizeof(new), "%s.XXXXXX", path) >= (int)sizeof(new)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!may_be_replaced(path))
		return false;
	f = create(new);
	if (!f)
		return false;
	metrics_print(f, domain, nr, daemon);
	bad = fflush(f) || ferror(f);
	error = errno;
	/* Some file systems tell of a full disk only now. */
	if (fclose(f) || bad || rename(new, path)) {
		error = bad ? error : errno;
		unlink(new);
		errno = error;
		return false;
	}
	return true;
}
