// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-access DOMID FIRST NR COMMAND…: lets a domain only read NR pages from gfn FIRST on, runs the command while a monitor is
 * there, as mem_access has it, and says whether the access of all of them is still the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xenctrl.h>

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	uint64_t first, nr, changed = 0;
	uint32_t domid, port;
	int status;
	void *ring;

	if (!xch || argc < 5) {
		fprintf(stderr, "usage: numa-access DOMID FIRST NR COMMAND…\n");
		return 2;
	}
	domid = atoi(argv[1]);
	first = strtoull(argv[2], NULL, 0);
	nr = strtoull(argv[3], NULL, 0);
	ring = xc_monitor_enable(xch, domid, &port);
	if (!ring) {
		perror("numa-access: no monitor");
		return 1;
	}
	if (xc_set_mem_access(xch, domid, XENMEM_access_r, first, nr)) {
		perror("numa-access: access is not set");
		return 1;
	}
	if (!fork()) {
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	wait(&status);
	for (uint64_t gfn = first; gfn < first + nr; gfn++) {
		xenmem_access_t access = XENMEM_access_n;

		if (xc_get_mem_access(xch, domid, gfn, &access) || access != XENMEM_access_r)
			changed++;
	}
	xc_set_mem_access(xch, domid, XENMEM_access_rwx, first, nr);
	xc_monitor_disable(xch, domid);
	printf("numa-access: the command ended with %d, access of %" PRIu64 " pages changed\n",
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1, changed);
	return status || changed;
}
