/* SPDX-License-Identifier: GPL-2.0-only */
/* What store*.c share; the handle is store.c's alone to open and close. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <stdbool.h>

struct xs_handle;

/* NULL: there is no connection. */
extern struct xs_handle *store_xs;

/* Of a value that may be NULL. */
bool store_is(const char *value, const char *what);

#endif
