/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads it again, all or nothing. */
#include <string.h>

#include "config/reload.h"

bool reload(struct config *config, const char *path, struct reload *what, char *error, size_t size)
{
	struct config new;

	if (!config_load(&new, path, error, size))
		return false;
	what->sampling = new.sample_entries != config->sample_entries || new.sample_ms != config->sample_ms ||
			 new.sample_permille != config->sample_permille || new.period_ms != config->period_ms ||
			 new.sample_ibs != config->sample_ibs;
	what->period = new.period_ms != config->period_ms;
	what->user = strcmp(new.user, config->user) != 0;
	*config = new;
	return true;
}
