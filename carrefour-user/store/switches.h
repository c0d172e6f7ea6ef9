/* SPDX-License-Identifier: GPL-2.0-only */
/* What xenstore says of a domain. */
#ifndef SWITCHES_H
#define SWITCHES_H

#include <stdbool.h>

#include "decide/auto.h"

#define NAME_SIZE 64

enum auto_mode { AUTO_OFF, AUTO_ADVISE, AUTO_ON, NR_AUTO_MODES };

const char *auto_mode_name(enum auto_mode mode);

struct switches {
	unsigned int id;
	bool carrefour;
	enum auto_mode mode;
	enum auto_class class;	/* that auto had found before this daemon came */
	bool follows;		/* ... and memory had not gone where auto wanted it, yet */
	char name[NAME_SIZE];
};

#endif
