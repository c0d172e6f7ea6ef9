/* SPDX-License-Identifier: GPL-2.0-only */
/* Periods of a daemon, with a stand-in for Xen. */
#ifndef PERIODS_H
#define PERIODS_H

#include "chance.h"
#include "fake-xen.h"

extern struct daemon d;
extern uint64_t longest;	/* between two times that others were served */
extern uint64_t serving_takes;	/* that others take each time */
extern unsigned int end_after;	/* so many of these; 0: never */

void begin(unsigned int nr_nodes, unsigned int nr_guests);
void end(void);

/* The same, with a file of metrics each second. */
#define FILE_NAME "m.prom"
#define UUID(n) "uuid=\"00000000-0000-0000-0000-00000000000" n "\""	/* the stand-in's domain n */
void begin_with_metrics(unsigned int nr_nodes, unsigned int nr_guests);
void end_with_metrics(void);

void periods(unsigned int nr);

/* Lines with this in them that were logged since the test began. */
unsigned int lines(const char *what);

bool is_there(const char *path);
/* Whether this is in the file. */
bool has(const char *path, const char *what);

#endif
