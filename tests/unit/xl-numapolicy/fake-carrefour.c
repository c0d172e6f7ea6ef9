/* SPDX-License-Identifier: GPL-2.0-only */
/* carrefourd's socket for tests: that of the file which FAKE_CARREFOUR names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fake.h"

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_un there = { .sun_family = AF_UNIX };
	const char *path = getenv("FAKE_CARREFOUR");

	if (address->sa_family != AF_UNIX)
		return __real_connect(fd, address, size);
	snprintf(there.sun_path, sizeof(there.sun_path), "%s", path ? path : "/nobody/is/here");
	return __real_connect(fd, (struct sockaddr *)&there, sizeof(there));
}
