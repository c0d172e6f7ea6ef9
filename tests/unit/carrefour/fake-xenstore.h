/* SPDX-License-Identifier: GPL-2.0-only */
/* A stand-in for libxenstore: keys in memory, an event for each that changes, and answers that fail. */
#ifndef FAKE_XENSTORE_H
#define FAKE_XENSTORE_H

#include <stdbool.h>

#define KEYS_MAX 8192

extern unsigned int nr_keys;
extern char events[KEYS_MAX][64];
extern unsigned int nr_events, at_event;
extern unsigned int reads;		/* requests that were answered */
extern unsigned int broken;		/* a domain whose keys cannot be read; 0: none */
extern const char *broken_key;		/* ... but this one alone; NULL: all */
extern bool list_is_broken;

/* Of /libxl/ID; NULL: it goes. */
void change(unsigned int id, const char *key, const char *value);
void forget(unsigned int id);
/* Called once, when a transaction has written for the first time: somebody else is at work, too. */
extern void (*meanwhile)(void);
/* NULL: there is none. */
const char *value_of(const char *path);
void set_name(unsigned int id, const char *name);

#endif
