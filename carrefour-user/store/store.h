/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What xenstore has for the daemon: which domains have Carrefour or auto on, as libxl keeps it in
 * /libxl/DOMID/numa-policy; and what auto writes there. A connection that is lost is opened again.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>

#include "store/switches.h"

/* Before rights are dropped; false: errno. */
bool store_open(void);
void store_close(void);

/*
 * Once a period: finds out whether the connection lives, and opens it again if not. Returns whether there
 * is one. Says so when it is lost, when it is back, and when it cannot be opened for another reason than before.
 */
bool store_check(void);

/* To poll; -1: none. When it is readable, store_read(). */
int store_fd(void);
void store_read(void);

/*
 * The domains that have anything on, if something may have changed since they were told last: *switches is
 * malloc()ed, in the order of ids. Returns whether it was filled; if not, all is as it was.
 */
bool store_switches(struct switches **switches, unsigned int *nr);
/* What was told last could not be taken: the next call tells it again. */
void store_again(void);

/* The name of a domain, which may be renamed at any time; its number, if it has none. False: it has none, or no answer. */
bool store_name(unsigned int domid, char name[NAME_SIZE]);

/* Whether its user has said auto=off, by which heal leaves it alone. Without an answer, it is left alone, too. */
bool store_keeps_off(unsigned int domid);

/* What auto has chosen, for the toolstack and for the next daemon to see. */
struct chosen {
	enum auto_class class;
	bool carrefour, follows;
	bool carrefour_was;	/* when there was a reason to choose */
};

/*
 * Before anything is done for another class: a daemon that comes before all of it is done and told is not to take the policy
 * that it finds for one that was set by hand. False: nothing was written, or auto is off by now.
 */
bool store_note_class(unsigned int domid, enum auto_class class);
/* *left: somebody has switched Carrefour since then, and it stays so; all else is written. */
bool store_write_class(unsigned int domid, const struct chosen *chosen, bool *left);
/* Its memory has followed, as far as it can. */
bool store_write_followed(unsigned int domid);
/* Says to the guest whether the policy has a use for events of pages, as libxl does at each change of policy. */
bool store_tell_guest(unsigned int domid, bool page_events);

#endif
