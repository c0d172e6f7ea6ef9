/* SPDX-License-Identifier: GPL-2.0-only */
/* To libxl and xenstored; all that asks Xen needs it. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "ask/types.h"

/* verbose: libxl's own messages go to stderr, otherwise nowhere. */
enum result backend_open(bool verbose);
void backend_close(void);

/* The last reason libxl gave for a failure; "" if it gave none. */
const char *backend_reason(void);

#endif
