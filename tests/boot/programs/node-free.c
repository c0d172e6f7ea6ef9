// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-free [settled]: prints the free 4 KiB pages of each node, to the page: `xl info -n` rounds to MiB, and a leak may be one page.
 * settled: not before all is back that Xen frees late.  What some process in dom0 still has of a domain that is dead keeps that
 * from going; after a while these domains are told on stderr.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libxl.h>
#include <xenctrl.h>

#define PATIENCE 10		/* seconds */
/*
 * What is freed after an RCU grace period may have something freed after another one, as a domain has its interrupts.  And what is
 * allocated meanwhile may keep a page that all else has left, until it is forgotten in its turn.
 */
#define GRACE_PERIODS 3

/* Prints those that stay, if it is told to; returns how many there are. */
static int dying(libxl_ctx *ctx, bool print)
{
	int domains, found = 0;
	libxl_dominfo *info = libxl_list_domain(ctx, &domains);

	for (int i = 0; info && i < domains; i++) {
		if (!info[i].dying)
			continue;
		found++;
		if (print)
			fprintf(stderr, "node-free: domain %" PRIu32 " is dead and still there\n", info[i].domid);
	}
	libxl_dominfo_list_free(info, domains);
	return found;
}

/* Entries that FLASK has dropped, and RCU has not freed yet. */
static int64_t unfreed(xc_interface *xch)
{
	static char text[1 << 16];
	unsigned int entries, allocated, freed;
	int64_t left = 0;

	if (xc_flask_avc_cachestats(xch, text, sizeof(text)))
		return -1;
	for (char *line = strchr(text, '\n'); line && sscanf(line, "%*u %*u %*u %u %*u %u", &allocated, &freed) == 2;
	     line = strchr(line + 1, '\n'))
		left += (int64_t)allocated - freed;
	if (xc_flask_avc_hashstats(xch, text, sizeof(text)) || sscanf(text, "entries: %u", &entries) != 1)
		return -1;
	return left - entries;
}

/* What waited for one before is freed after it. */
static int pass_grace_period(xc_interface *xch)
{
	int enforcing = xc_flask_getenforce(xch);

	/* Before Xen sees that the CPU is up already, it waits until each CPU has freed what it had to.  FLASK does not allow that. */
	if (enforcing < 0)
		return xc_cpu_online(xch, 0) && errno == EEXIST ? 0 : -1;
	/*
	 * To be told again that it is enforcing has FLASK forget what it has allowed, of which each new domain brings more.  That is
	 * freed on this CPU, behind all that waited there.
	 */
	if (xc_flask_setenforce(xch, enforcing))
		return -1;
	for (time_t end = time(NULL) + PATIENCE; unfreed(xch); usleep(1000))
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			return -1;
		}
	return 0;
}

static int settle(libxl_ctx *ctx)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	time_t end = time(NULL) + PATIENCE;

	if (!xch)
		return -1;
	while (dying(ctx, false) && time(NULL) < end)
		usleep(50000);
	dying(ctx, true);
	for (int i = 0; i < GRACE_PERIODS; i++)
		if (pass_grace_period(xch))
			return -1;
	xc_interface_close(xch);
	return 0;
}

int main(int argc, char **argv)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_ERROR, 0);
	libxl_ctx *ctx;
	libxl_numainfo *info;
	int nodes;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "settled"))) {
		fprintf(stderr, "usage: node-free [settled]\n");
		return 2;
	}
	if (libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log))
		return 1;
	if (argc == 2 && settle(ctx)) {
		fprintf(stderr, "node-free: settled: %s\n", strerror(errno));
		return 1;
	}
	info = libxl_get_numainfo(ctx, &nodes);
	if (!info)
		return 1;
	for (int node = 0; node < nodes; node++)
		if (info[node].size != LIBXL_NUMAINFO_INVALID_ENTRY)
			printf("%d %" PRIu64 "\n", node, info[node].free >> 12);
	libxl_numainfo_list_free(info, nodes);
	libxl_ctx_free(ctx);
	xtl_logger_destroy(log);
	return 0;
}
