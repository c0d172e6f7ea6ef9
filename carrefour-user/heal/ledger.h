/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What came of each action. As long as its VM lives and stays, an action brings what the host is worth now more than if the VM
 * were where it was before: by the model that predicted it (worth.h), but with the loads and places of now. Pure.
 */
#ifndef HEAL_LEDGER_H
#define HEAL_LEDGER_H

#include "heal/heal.h"

#define LEDGER_SIZE 256

struct heal_entry {
	unsigned int id;		/* of its domain */
	enum heal_why why;
	uint64_t at;			/* when it was done */
	uint64_t home, home_before;
	uint64_t bytes_before[NODES_MAX];
	uint64_t bytes, cost_ns;	/* of what made room for it, too */
	double predicted;		/* CPUs' worth of time */
	double brought_ns;
	double local_before, local_predicted;
	bool paid;			/* its cost came back; what it brings later is for the record */
	bool closed;			/* nothing more comes of it */
	bool undone;			/* nothing moved: it is neither paid nor lost */
};

struct heal_ledger {
	struct heal_entry entry[LEDGER_SIZE];
	uint64_t nr;			/* ever; the last ones are kept */
	uint64_t paid, lost;		/* cost came back; or it ended before that */
	uint64_t regretted;		/* paid, but when it ended, it had brought less than its cost after all */
	double cost_ns, brought_ns;	/* all together */
};

/* What was done of @plan. A further part of a way that was begun is the same entry. */
void heal_ledger_add(struct heal_ledger *ledger, const struct heal_host *host, const struct heal_plan *plan, uint64_t now);
/* What was decided @at could not be done at all, and says nothing of what it would have brought. */
void heal_ledger_undone(struct heal_ledger *ledger, unsigned int id, uint64_t at);
/* @ns have passed. False: out of memory, and nothing was looked at. */
bool heal_ledger_look(struct heal_ledger *ledger, const struct heal_host *host, const struct heal_rules *rules, uint64_t now,
		      uint64_t ns);
/* Too many were lost: heal is to stop. */
bool heal_ledger_stops(const struct heal_ledger *ledger);
/* The @i-th of those that are kept, the newest is 0; NULL: there are no more. */
const struct heal_entry *heal_ledger_get(const struct heal_ledger *ledger, unsigned int i);

#endif
