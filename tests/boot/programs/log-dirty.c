// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log-dirty DOMID PAGES COMMAND…: has Xen log which pages a domain writes while the command runs, as live migration does, and says
 * which gfns below PAGES these were, a line for each run of them:
 *
 *	dirty FIRST-IN-HEX PAGES
 *
 * It ends as the command does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xenctrl.h>

#define WORD (8 * sizeof(unsigned long))

static xc_interface *xch;
static uint32_t domid;

static int fail(const char *what)
{
	perror(what);
	xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0);
	return 1;
}

static void print_runs(const unsigned long *bitmap, unsigned long pages)
{
	unsigned long first = 0;

	/* one bit more, which is clear, ends the last run */
	for (unsigned long gfn = 0, before = 0, now; gfn <= pages; gfn++, before = now) {
		now = gfn < pages && bitmap[gfn / WORD] >> gfn % WORD & 1;
		if (now && !before)
			first = gfn;
		if (!now && before)
			printf("dirty %lx %lu\n", first, gfn - first);
	}
}

/* What was dirty, and is so no more; no fewer pages than the domain has. */
static int clean(xc_hypercall_buffer_t *buffer, unsigned long pages)
{
	DECLARE_HYPERCALL_BUFFER_ARGUMENT(buffer);

	return xc_logdirty_control(xch, domid, XEN_DOMCTL_SHADOW_OP_CLEAN, HYPERCALL_BUFFER(buffer), pages, 0, NULL) < 0;
}

int main(int argc, char **argv)
{
	DECLARE_HYPERCALL_BUFFER(unsigned long, bitmap);
	unsigned long pages;
	xen_pfn_t last;
	int status;
	pid_t child;

	xch = xc_interface_open(NULL, NULL, 0);
	if (!xch || argc < 4) {
		fprintf(stderr, "usage: log-dirty DOMID PAGES COMMAND…\n");
		return 2;
	}
	domid = atoi(argv[1]);
	pages = strtoul(argv[2], NULL, 0);
	if (xc_domain_maximum_gpfn(xch, domid, &last))
		return fail("log-dirty: last gfn");
	bitmap = xc_hypercall_buffer_alloc_pages(xch, bitmap, last / WORD * sizeof(*bitmap) / XC_PAGE_SIZE + 1);
	if (!bitmap || pages > last)
		return fail("log-dirty: memory");
	if (xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY, NULL, 0) < 0 || clean(HYPERCALL_BUFFER(bitmap), last + 1))
		return fail("log-dirty: on");
	child = fork();
	if (child < 0)
		return fail("log-dirty: fork");
	if (!child) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child)
		return fail("log-dirty: wait");
	if (clean(HYPERCALL_BUFFER(bitmap), last + 1))
		return fail("log-dirty: clean");
	if (xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0) < 0)
		return fail("log-dirty: off");
	print_runs(bitmap, pages);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
