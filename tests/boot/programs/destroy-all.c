// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * destroy-all SECONDS: destroys all domains but dom0 and waits until they are gone; prints the ids of those that stay.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libxl.h>

#define POLL_US 50000

static libxl_ctx *ctx;

/* How many there are.  A page that somebody has mapped keeps a domain that is destroyed until it is dropped. */
static int look(void (*each)(const libxl_dominfo *info))
{
	int nr, others = 0;
	libxl_dominfo *list = libxl_list_domain(ctx, &nr);

	if (!list) {
		fprintf(stderr, "destroy-all: no list of domains\n");
		exit(2);
	}
	for (int i = 0; i < nr; i++) {
		if (!list[i].domid)
			continue;
		others++;
		each(&list[i]);
	}
	libxl_dominfo_list_free(list, nr);
	return others;
}

static void destroy(const libxl_dominfo *info)
{
	if (!info->dying)
		libxl_domain_destroy(ctx, info->domid, NULL);
}

static void print(const libxl_dominfo *info)
{
	printf("%" PRIu32 "\n", info->domid);
}

int main(int argc, char **argv)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_ERROR, 0);

	if (argc != 2) {
		fprintf(stderr, "usage: destroy-all SECONDS\n");
		return 2;
	}
	if (libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log))
		return 2;
	for (long left = atoi(argv[1]) * 1000000L; look(destroy) && left > 0; left -= POLL_US)
		usleep(POLL_US);
	look(print);
	return 0;
}
