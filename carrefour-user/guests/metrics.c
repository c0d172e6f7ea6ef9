/* SPDX-License-Identifier: GPL-2.0-only */
#include "guests/metrics.h"

void metrics_count(struct domain_metrics *m, const struct verdict *v)
{
	unsigned int i;

	m->backoffs += v->state == STATE_BACKOFF && m->last.state != STATE_BACKOFF;
	m->last = *v;
	m->periods++;
	m->samples += v->measure.samples;
	m->moves += v->moves;
	m->bytes += v->bytes;
	m->frozen += v->frozen;
	m->strange += v->strange;
	m->untracked += v->untracked;
	for (i = 0; i < NR_HELD; i++)
		m->held[i] += v->held[i];
}
