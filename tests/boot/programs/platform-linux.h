/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of programs that run under a guest's Linux: platform.h, and what Linux alone has. */
#ifndef PLATFORM_LINUX_H
#define PLATFORM_LINUX_H

#include "platform.h"

void die(const char *what) __attribute__((noreturn));	/* with errno */

#endif
