/* SPDX-License-Identifier: GPL-2.0-only */
/* Which VMs come, how large they are, how long they live and how busy they are: from a seed, whatever becomes of them. */
#ifndef CHURN_DAY_H
#define CHURN_DAY_H

#include "world.h"

struct day {
	uint64_t random;
	double vms;			/* on average */
	double per_hour;		/* that come, and go */
};

/* One of those that are there at the beginning; its minutes to live. */
struct vm day_first(struct day *day, unsigned int id, double *left);
/* One that comes at @minute. */
struct vm day_next(struct day *day, unsigned int id, double *left);
/* How many come in a minute. */
unsigned int day_arrivals(struct day *day);
/* How busy a VM is at @minute, in CPUs: the same, whenever it is asked. */
double day_load(const struct vm *vm, unsigned int minute);

#endif
