/* SPDX-License-Identifier: GPL-2.0-only */
/* A command line, by the table of options of its command. */
#ifndef PARSE_H
#define PARSE_H

#include "cmd/command.h"

/*
 * What argv has beyond argv[0]; its arguments alone are argv[0] and following afterwards. Exits if something in it is wrong.
 * name: that of the command, or NULL if nobody has named it.
 */
struct options parse_options(const struct command *command, const char *name, int *argc, char ***argv);

#endif
