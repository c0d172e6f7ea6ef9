/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections to libxl, libxenctrl and xenstored. Keeps libxl's messages out of the way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxl.h>
#include <libxl_utils.h>
#include <xenctrl.h>
#include <xenstore.h>
#include <xentoollog.h>

#include "ask/connection.h"
#include "ask/context.h"
#include "base/foreign.h"

#ifndef LIBXL_HAVE_NUMA_POLICY_INFO_VNUMA
#error "this libxl has no NUMA placement policies: point XEN_TOOLS at a patched one"
#endif

#define PRIVCMD "/dev/xen/privcmd"

/* Keeps the last error of a call: libxl goes from the cause to what it means. */
struct logger {
	xentoollog_logger vtable;
	bool verbose;
	char reason[256];
};

static struct logger logger;
libxl_ctx *ctx;
struct xs_handle *xs;
static xc_interface *xc;

static void log_message(xentoollog_logger *base, xentoollog_level level,
			int errnoval, const char *context, const char *format,
			va_list ap)
{
	struct logger *l = (struct logger *)base;
	char text[sizeof(l->reason)];
	const char *reason;
	int skip = 0;

	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	if (errnoval > 0) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, ": %s",
			 strerror(errnoval));
	}

	if (l->verbose) {
		char *safe = text_escape(text);

		fprintf(stderr, "%s: %s: %s\n", context ? context : "libxl",
			xtl_level_to_string(level), safe);
		free(safe);
	}
	if (level >= XTL_ERROR) {
		/* libxl begins with "FILE:LINE:FUNCTION:" and often "Domain ID:". */
		reason = text;
		if (sscanf(reason, "%*[^: ]:%*u:%*[^: ]:%n", &skip) == 0)
			reason += skip;
		skip = 0;
		if (sscanf(reason, "Domain %*u:%n", &skip) == 0)
			reason += skip;
		strcpy(l->reason, reason + strspn(reason, " "));
	}
}

static void log_destroy(xentoollog_logger *base)
{
	(void)base;
}

const char *backend_reason(void)
{
	return logger.reason;
}

void forget_reason(void)
{
	logger.reason[0] = '\0';
}

xentoollog_logger *context_logger(void)
{
	return &logger.vtable;
}

enum result result_of(int rc)
{
	switch (rc) {
	case 0:
		return RESULT_OK;
	case ERROR_NI:
		return RESULT_NO_FEATURE;
	case ERROR_DOMAIN_NOTFOUND:
		return RESULT_NO_DOMAIN;
	case ERROR_INVAL:
		return RESULT_REFUSED;
	case ERROR_NOTFOUND:
		return RESULT_NO_POLICY;
	case ERROR_DEVICE_EXISTS:
		return RESULT_HAS_DEVICE;
	case ERROR_JSON_CONFIG_EMPTY:
		return RESULT_FOREIGN;
	default:
		return RESULT_FAILED;
	}
}

xc_interface *control(void)
{
	if (!xc)
		xc = xc_interface_open(&logger.vtable, &logger.vtable, 0);
	return xc;
}

enum result result_of_errno(int error, const char *what)
{
	switch (error) {
	case EBUSY:
		return RESULT_BUSY;
	case EXDEV:
		return RESULT_HAS_DEVICE;
	case EOPNOTSUPP:
	case EEXIST:
		return RESULT_REFUSED;
	case ESRCH:
		return RESULT_NO_DOMAIN;
	case ENOSYS:
		return RESULT_NO_FEATURE;
	default:
		xtl_log(&logger.vtable, XTL_ERROR, error, NULL, "%s", what);
		return RESULT_FAILED;
	}
}

enum result backend_open(bool verbose)
{
	logger.vtable.vmessage = log_message;
	logger.vtable.destroy = log_destroy;
	logger.verbose = verbose;
	forget_reason();

	if (!libxl_ctx_alloc(&ctx, LIBXL_VERSION, 0, &logger.vtable)) {
		xs = xs_open(0);
		return RESULT_OK;
	}
	if (!access(PRIVCMD, R_OK | W_OK))
		return RESULT_FAILED;
	return errno == EACCES ? RESULT_NO_RIGHTS : RESULT_NO_XEN;
}

void backend_close(void)
{
	if (xc)
		xc_interface_close(xc);
	xc = NULL;
	if (xs)
		xs_close(xs);
	xs = NULL;
	libxl_ctx_free(ctx);
	ctx = NULL;
}

void copy_nodes(bool node[NODES_MAX], const libxl_bitmap *map)
{
	int i;

	for (i = 0; i < NODES_MAX; i++)
		node[i] = libxl_bitmap_test(map, i);
}
