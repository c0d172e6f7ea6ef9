// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the free 4 KiB pages of each node, to the page: `xl info -n` rounds to MiB, and a leak may be one page. */
#include <inttypes.h>
#include <stdio.h>

#include <libxl.h>

int main(void)
{
	xentoollog_logger *log = (void *)xtl_createlogger_stdiostream(stderr, XTL_ERROR, 0);
	libxl_ctx *ctx;
	libxl_numainfo *info;
	int nodes;

	if (libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, log))
		return 1;
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
