/* SPDX-License-Identifier: GPL-2.0-only */
/* What a new configuration changes for a daemon that runs. */
#ifndef RELOAD_H
#define RELOAD_H

#include "config/config.h"

struct reload {
	bool sampling;	/* has to begin anew */
	bool user;	/* waits for the next start */
	bool period;	/* it may be over sooner */
};

/* False: one line in @error, and *config is as it was. */
bool reload(struct config *config, const char *path, struct reload *what, char *error, size_t size);

#endif
