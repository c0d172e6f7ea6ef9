/* SPDX-License-Identifier: GPL-2.0-only */
/* A ring. */
#include <stddef.h>

#include "guests/history.h"

void history_add(struct history *h, const struct event *event)
{
	h->event[h->nr++ % HISTORY_SIZE] = *event;
}

const struct event *history_get(const struct history *h, unsigned int i)
{
	if (i >= HISTORY_SIZE || i >= h->nr)
		return NULL;
	return &h->event[(h->nr - 1 - i) % HISTORY_SIZE];
}
