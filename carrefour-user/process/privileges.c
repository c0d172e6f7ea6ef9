/* SPDX-License-Identifier: GPL-2.0-only */
/* capabilities(7), by the system calls: the library is one more dependency for two calls. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/privileges.h"

#define KEPT CAP_TO_MASK(CAP_DAC_OVERRIDE)

static bool dropped;

static int set_capabilities(uint32_t permitted, uint32_t effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .permitted = permitted, .effective = effective },
	};

	return syscall(SYS_capset, &header, data);
}

/* Without a name service, as in a small dom0, a number will do. */
static bool find_user(const char *user, uid_t *uid, gid_t *gid, char *error, size_t size)
{
	struct passwd *pw;
	unsigned long n;
	bool found;
	char *end;

	errno = 0;
	n = strtoul(user, &end, 10);
	if (*user >= '0' && *user <= '9' && !*end) {
		*uid = *gid = n;
		found = !errno && n < UINT32_MAX;
	} else {
		pw = getpwnam(user);
		found = pw;
		if (found) {
			*uid = pw->pw_uid;
			*gid = pw->pw_gid;
		}
	}
	if (!found)
		snprintf(error, size, "there is no user '%.100s'; create it, or name another one with user = or --user", user);
	return found;
}

bool privileges_known(const char *user, char *error, size_t size)
{
	uid_t uid;
	gid_t gid;

	return find_user(user, &uid, &gid, error, size);
}

bool privileges_drop(const char *user, char *error, size_t size)
{
	uid_t uid;
	gid_t gid;

	if (!find_user(user, &uid, &gid, error, size))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || (uid && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)) ||
	    (uid && (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))) ||
	    (uid && set_capabilities(KEPT, 0)) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) {
		snprintf(error, size, "cannot become user '%.100s': %s", user, strerror(errno));
		return false;
	}
	dropped = uid != 0;
	return true;
}

void privileges_raise(void)
{
	/* If that fails, so does what it was for, and that is said. */
	if (dropped)
		(void)!set_capabilities(KEPT, KEPT);
}

void privileges_lower(void)
{
	/* Less than what is permitted cannot fail. */
	if (dropped && set_capabilities(KEPT, 0))
		abort();
}
