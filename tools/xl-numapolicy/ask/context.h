/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that call libxl: what is open, and what libxl's types are to us. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <libxl.h>
#include <xenstore.h>
#include <xentoollog.h>

#include "ask/types.h"

/* Open from backend_open() to backend_close(). */
extern libxl_ctx *ctx;
extern struct xs_handle *xs;	/* NULL: xenstored cannot be asked */

void forget_reason(void);
/* For other libraries of Xen: their messages go where those of libxl do. */
xentoollog_logger *context_logger(void);
enum result result_of(int rc);

/* libxenctrl, for what libxl does not know; opened when it is first asked for. NULL, and errno: it cannot be. */
struct xc_interface_core *control(void);
/* It gives no reason of its own: @what is that. */
enum result result_of_errno(int error, const char *what);

/* In switches.c; what is unset stays so. */
void switches_to_params(const struct dynamic *dynamic, libxl_numa_policy_params *params);
unsigned int switch_of(libxl_numa_auto mode);

/* In backend-vcpus.c. False: it could not be told. */
bool count_cpus(uint32_t cpus[NODES_MAX]);

/* Nodes from NODES_MAX on are left out. */
void copy_nodes(bool node[NODES_MAX], const libxl_bitmap *map);

#endif
