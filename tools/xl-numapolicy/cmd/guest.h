/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions about a guest that more than one subcommand asks, and what they all call its answers. */
#ifndef GUEST_H
#define GUEST_H

#include "ask/types.h"
#include "cmd/fit.h"
#include "print/fields.h"
#include "print/watched.h"

/* A field of struct facts; one that is nothing while known is false. */
#define FACT(title, key, cell, member) { title, key, cell, offsetof(struct facts, member) }
#define KNOWN(title, key, cell, member, known, ...) \
	{ title, key, cell, offsetof(struct facts, member), IF(struct facts, known), __VA_ARGS__ }

/* What there is to know of a domain. */
struct facts {
	struct domain domain;
	struct policy policy;
	struct usage usage;
	struct stats stats;
	bool has_id;		/* or it is the host */
	bool has_policy, has_usage, has_vcpus;
	uint32_t vcpus[NODES_MAX];	/* that run on each node */
	uint32_t may_run[NODES_MAX];	/* that are to run there, by their affinity */
	bool has_carrefour, carrefour;	/* whether it is known, and on */
	const char *automatic;	/* "off", "on", "advise"; NULL if nobody knows */
	const char *switches;	/* both in a word */
	uint64_t memory;	/* bytes */
	struct share at_home, local;	/* on home nodes; on nodes where vCPUs run */
	bool has_fit;
	struct placement placement;
	struct fit fit;
	struct locality numa;	/* the one figure: as sampled, else as estimated by fit */
	const char *numa_from;	/* "samples", "estimate" */
	uint64_t mapped[PAGE_SIZES];	/* bytes, by the size of the mapping */
	bool keeps_large;	/* the policy divides no 2 MiB: what is mapped by 4 KiB has lost something */
};

/* Any domain; exits with the reason if there is none. */
void find_domain(const char *which, struct domain *domain);

/* A domain that can have a policy; exits with the reason if it cannot. */
void find_guest(const char *which, struct domain *domain);

/* What carrefourd is to do with it, whether it runs or not. */
void get_switches(struct facts *facts);

/* All but the policy; exits with the reason if it cannot be told. */
void look_closely(struct facts *facts);

/* The parts that follow from others. */
void complete_facts(struct facts *facts);

/* So many that chance moves their share by less than what is called low. */
#define SAMPLES_LEAST 100

/* The one figure, after complete_facts(). watched: NULL for a domain that carrefourd does not watch. */
void judge_locality(struct facts *facts, const struct watched *watched, const struct nodes *nodes);

/* Whether so much that its policy would keep in larger pages is mapped by 4 KiB that it is worth telling. */
bool has_lost_large(const struct facts *facts);

/* What show says of a domain as a whole in RAW and JSON; set says it, too, with watched NULL. */
void print_facts(const struct facts *facts, const struct watched_row *watched);

/* True if the policy is one that places by home nodes and weights. */
bool policy_places(const struct policy *policy);
/* True if it places neighbours of 4 KiB on different nodes. */
bool policy_divides(const struct policy *policy);
/* True if it leaves 2 MiB in one piece, and nobody takes them apart on purpose. */
bool policy_keeps_large(const struct policy *policy);
bool policy_same(const struct policy *a, const struct policy *b);
bool weights_equal(const struct policy *policy);
uint64_t usage_of_node(const struct usage *usage, unsigned int node);	/* bytes */
uint64_t usage_by_size(const struct usage *usage, enum page_size size);
uint64_t usage_total(const struct usage *usage);
/* On those that have a weight. */
uint64_t usage_of_nodes(const struct usage *usage, const uint32_t weight[NODES_MAX]);
uint64_t usage_at_home(const struct usage *usage, const struct policy *policy);

#endif
