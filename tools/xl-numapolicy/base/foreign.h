/* SPDX-License-Identifier: GPL-2.0-only */
/* Text from others, a domain's name for one: it must neither break JSON nor work the terminal. */
#ifndef FOREIGN_H
#define FOREIGN_H

/* Puts U+FFFD where text is no UTF-8; frees it, and returns what is to be freed. NULL stays. */
char *text_repair(char *text);

/* malloc()ed: control characters as \x1b and the like. text is UTF-8. */
char *text_escape(const char *text);

#endif
