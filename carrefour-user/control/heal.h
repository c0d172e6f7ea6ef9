/* SPDX-License-Identifier: GPL-2.0-only */
/* What heal would do, as a document: carrefourd(8) has its fields. */
#ifndef CONTROL_HEAL_H
#define CONTROL_HEAL_H

#include <stdio.h>

#include "guests/daemon.h"

void heal_view(FILE *to, const struct daemon *daemon);

#endif
