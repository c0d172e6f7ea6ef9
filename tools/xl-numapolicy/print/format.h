/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and lists as text for people. The result is the caller's buffer. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdint.h>

#include "ask/types.h"

#define NUMBER_TEXT 24	/* the longest number, share or size */
#define LIST_TEXT (NODES_MAX * 4)	/* the longest list of nodes or weights */

/* "512K", "341.3M", "2G": binary units, one decimal where it is not zero. */
const char *format_bytes(char text[NUMBER_TEXT], uint64_t bytes);
/* "25.0": percent; part may not be larger than UINT64_MAX / 1000. */
const char *format_share(char text[NUMBER_TEXT], uint64_t part, uint64_t whole);
/* "7.500", of nanoseconds */
const char *format_seconds(char text[NUMBER_TEXT], uint64_t ns);
/* "0-3,5" */
const char *format_nodes(char text[LIST_TEXT], const uint32_t weight[NODES_MAX]);
/* "3:1:1" */
const char *format_weights(char text[LIST_TEXT], const uint32_t weight[NODES_MAX]);

#endif
