/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals, clients, xenstore and periods, each when it is time. */
#ifndef LOOP_H
#define LOOP_H

#include "guests/daemon.h"

/* From here on signals come to loop_run(). False: errno says why not. */
bool loop_open(void);

/* Until a signal ends it. @user_is_given: by the command line, so that the configuration's does not count. False: errno. */
bool loop_run(struct daemon *daemon, const char *config, bool user_is_given);

#endif
