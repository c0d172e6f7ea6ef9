/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions about a guest that more than one subcommand asks, and what they all call its answers. */
#ifndef GUEST_H
#define GUEST_H

#include "ask/types.h"
#include "print/fields.h"

/* What there is to know of a domain. */
struct facts {
	struct domain domain;
	struct policy policy;
	struct usage usage;
	struct stats stats;
	bool has_policy, has_usage;
	uint64_t memory;	/* bytes */
	struct share at_home;
};

/* A domain that can have a policy; exits with the reason if it cannot. */
void find_guest(const char *which, struct domain *domain);

/* The parts that follow from others. */
void complete_facts(struct facts *facts);

/* What show says of a domain as a whole in RAW and JSON; set says it, too. */
void print_facts(const struct facts *facts);

/* True if the policy is one that places by home nodes and weights. */
bool policy_places(const struct policy *policy);
bool policy_same(const struct policy *a, const struct policy *b);
bool weights_equal(const struct policy *policy);
uint64_t usage_of_node(const struct usage *usage, unsigned int node);	/* bytes */
uint64_t usage_total(const struct usage *usage);
uint64_t usage_at_home(const struct usage *usage, const struct policy *policy);

#endif
