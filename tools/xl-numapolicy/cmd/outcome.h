/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of the memory of a domain that was to move. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "ask/types.h"
#include "cmd/options.h"
#include "print/fields.h"

struct outcome {
	const char *event;	/* what JSON calls it */
	struct domain domain;
	const char *policy;
	const char *asks;	/* what was asked last, as check_domain() has it; NULL: it moved memory */
	const char *why;	/* not all of it is where it should be; NULL: it is */
	bool dry_run;
	bool compact;		/* put together by 2 MiB, and moved no further */
	const struct leave *leave; /* not by the policy, which is none */
	bool policy_changed;	/* meanwhile, by somebody else */
	int signal;		/* that stopped it, or 0 */
	bool complete;
	uint64_t elapsed;	/* ns */
	uint64_t total;		/* bytes at the beginning */
	struct moves moves;
};

extern const struct field outcome_fields[];
extern const unsigned int nr_outcome_fields;

/*
 * By the policy that there is, of outcome->domain, or compact; until a signal, or an answer that is not RESULT_OK. one_of_many:
 * progress says whose memory it is.
 */
enum result move_memory(struct outcome *outcome, const struct options *options, bool one_of_many);

/* The object that JSON has of one VM. */
void print_outcome(const struct outcome *outcome);

/* "SIGINT" or "SIGTERM" */
const char *signal_name(int signal);

/* In a few words, for a cell: why most of what stays does (NULL: nothing stays); why Xen moves nothing of it. */
const char *main_reason(const struct moves *moves);
const char *refusal(enum result result);

/* rebalance --all. */
void rebalance_all(const struct options *options);

#endif
