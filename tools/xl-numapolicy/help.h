/* SPDX-License-Identifier: GPL-2.0-only */
/* The help, which is made of the tables of the commands. Completion reads it. */
#ifndef HELP_H
#define HELP_H

#include "cmd/command.h"

void help_all(void);
void help_command(const struct command *command);

#endif
