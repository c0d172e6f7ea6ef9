/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory, or the end of the program. */
#ifndef ALLOC_H
#define ALLOC_H

#define PROGRAM "xl numa-policy"	/* how each line on stderr begins */

void *check_alloc(void *memory);

#endif
