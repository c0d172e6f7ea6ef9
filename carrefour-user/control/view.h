/* SPDX-License-Identifier: GPL-2.0-only */
/* Documents for requests. */
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "guests/daemon.h"

void view_show(FILE *to, const struct daemon *daemon);
void view_explain(FILE *to, const struct daemon *daemon, const struct guest *guest);
void view_error(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
