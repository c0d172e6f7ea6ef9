// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-domctl: runs in a guest, whose kernel passes hypercalls on, and asks for each part of XEN_DOMCTL_numa_policy for itself, for
 * dom0 and for the other domains.  All have to be denied.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/sys/privcmd.h>

#define OTHERS 8

static struct xen_domctl domctl;

static int call(int privcmd, unsigned int op, domid_t domid)
{
	struct privcmd_hypercall hypercall = { .op = __HYPERVISOR_domctl, .arg = { (unsigned long)&domctl } };

	memset(&domctl, 0, sizeof(domctl));
	domctl.cmd = XEN_DOMCTL_numa_policy;
	domctl.interface_version = XEN_DOMCTL_INTERFACE_VERSION;
	domctl.domain = domid;
	domctl.u.numa_policy.op = op;
	return ioctl(privcmd, IOCTL_PRIVCMD_HYPERCALL, &hypercall) ? errno : 0;
}

int main(int argc, char **argv)
{
	int privcmd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	unsigned int calls = 0, wrong = 0;

	(void)argc;
	(void)argv;
	/* Xen reads it where it is, and does not wait for a page */
	if (privcmd < 0 || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("guest-domctl");
		return 2;
	}
	for (unsigned int op = 0; op <= XEN_DOMCTL_NUMA_POLICY_SAMPLE + 1; op++) {
		for (unsigned int domid = 0; domid <= OTHERS; domid++) {
			int error = call(privcmd, op, domid == OTHERS ? DOMID_SELF : domid);

			calls++;
			/* of a domain that is not there it may say so */
			if (error == EPERM || error == EACCES || (error == ESRCH && domid))
				continue;
			wrong++;
			printf("op %u on domain %u: %s\n", op, domid, error ? strerror(error) : "done");
		}
	}
	printf("guest-domctl: %u calls, %u not denied\n", calls, wrong);
	fflush(stdout);
	pause();
	return 0;
}
