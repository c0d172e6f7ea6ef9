/* SPDX-License-Identifier: GPL-2.0-only */
/* What the server is asked. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "control/server.h"
#include "guests/daemon.h"

const struct service *requests_begin(const struct daemon *daemon);

#endif
