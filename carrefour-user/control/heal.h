/* SPDX-License-Identifier: GPL-2.0-only */
/* What heal would do, as a document: carrefourd(8) has its fields. */
#ifndef CONTROL_HEAL_H
#define CONTROL_HEAL_H

#include <stdbool.h>
#include <stdio.h>

#include "guests/daemon.h"

void heal_view(FILE *to, const struct daemon *daemon);
/* Fields of a document about a domain: what heal says of it now, and has done. */
void heal_view_fields(FILE *to, const struct daemon *daemon, unsigned int id);
/* The document about a domain that only heal knows; false, and nothing: it does not. */
bool heal_view_explain(FILE *to, const struct daemon *daemon, unsigned int id);

#endif
