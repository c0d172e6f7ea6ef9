/* Between backend*.c and spec.c: the only header that has libxl's types. */
#ifndef SPEC_H
#define SPEC_H

#include <libxl.h>

#include "backend.h"

extern libxl_ctx *ctx;	/* open from backend_open() to backend_close() */

void forget_reason(void);
enum result result_of(int rc);

/* Never NULL: a policy of a newer Xen is "?". */
const char *spec_policy_name(libxl_numa_policy policy);

/* Nodes from NODES_MAX on are left out. */
void copy_nodes(bool node[NODES_MAX], const libxl_bitmap *map);

#endif
