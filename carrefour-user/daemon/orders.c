/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "daemon/breathe.h"
#include "daemon/orders.h"
#include "daemon/tell.h"

#define LIST 512	/* of a call: those of one may take a while together */

void orders_carry_out(struct daemon *d, struct guest *g)
{
	const struct outcome *out = &g->out;
	enum result result[LIST];
	int error = 0;
	size_t at, nr, i;

	for (at = 0; at < out->nr; at += nr) {
		nr = out->nr - at < LIST ? out->nr - at : LIST;
		for (i = 0; i < nr; i++)
			result[i] = RESULT_NOT_TRIED;
		if (!error && breathe(d))
			error = xen_move(g->switches.id, &out->decision[at], nr, result);
		tell_decisions(d, g, at, nr, result);
	}
	if (guest_says(g, TOPIC_MOVES, error == ESRCH ? 0 : error, d->now))
		guest_log(g, LEVEL_WARNING, "moving its pages: %s; tried again each period", strerror(error));
}
